# Completion of svc for bash: put this line into ~/.bashrc.
#   source <(svc completion bash)
_svc_words() {
  local line kind='' current="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  [[ -f {{SCRIPT}} ]] || return
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      [[ $line == */ ]] && compopt -o nospace 2>/dev/null
      [[ $current == [\"\']* ]] || printf -v line %q "$line"
      COMPREPLY+=("$line")
    fi
  done < <({{RUN}} "$@" 2>/dev/null)
  case $kind in
    files) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
    folders) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current") ;;
  esac
}
_svc() { _svc_words "${COMP_WORDS[@]:1:COMP_CWORD}"; }
_svc_npx() {
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in
      svc | svc-platform) _svc_words "${COMP_WORDS[@]:at+1:COMP_CWORD-at}"; return ;;
      -*) ;;
      *) return ;;
    esac
  done
}
complete -F _svc svc svc-platform
complete -p npx >/dev/null 2>&1 || complete -o default -F _svc_npx npx
