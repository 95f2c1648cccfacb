#compdef svc svc-platform
# Completion of svc for zsh: put this line into ~/.zshrc.
#   source <(svc completion zsh)
_svc_words() {
  [[ -f {{SCRIPT}} ]] || return
  local line word
  local -a lines items open
  lines=("${(@f)$({{RUN}} "$@" 2>/dev/null)}")
  case ${lines[1]} in
    files) _files; return ;;
    folders) _files -/; return ;;
  esac
  for line in "${(@)lines[2,-1]}"; do
    word=${line%%$'\t'*}
    if [[ $word == */ ]]; then
      open+=("$word")
    elif [[ $line == *$'\t'* ]]; then
      items+=("${word//:/\\:}:${line#*$'\t'}")
    elif [[ -n $word ]]; then
      items+=("${word//:/\\:}")
    fi
  done
  (( $#open )) && compadd -S '' -a open
  (( $#items )) && _describe svc items
}
_svc() { _svc_words "${(@Q)words[2,CURRENT]}" }
_svc_npx() {
  local -i at
  for (( at = 2; at < CURRENT; at++ )); do
    case ${words[at]} in
      svc|svc-platform) _svc_words "${(@Q)words[at+1,CURRENT]}"; return ;;
      -*) ;;
      *) break ;;
    esac
  done
  _files
}
if [[ ${funcstack[1]} == _svc ]]; then
  _svc "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _svc svc svc-platform
  (( $+_comps[npx] )) || compdef _svc_npx npx
fi
