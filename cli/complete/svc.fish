# Completion of svc for fish: put this line into ~/.config/fish/config.fish.
#   svc completion fish | source
function __svc_words
  test -f {{SCRIPT}}; or return
  set -l lines ({{RUN}} $argv 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct)
    case words
      printf '%s\n' $lines[2..-1]
  end
end
function __svc_complete
  set -l before (commandline -opc)
  __svc_words $before[2..-1] (commandline -ct)
end
function __svc_npx
  set -l before (commandline -opc)
  set -l at (contains -i -- svc $before; or contains -i -- svc-platform $before); or return
  set -l after
  test $at -lt (count $before); and set after $before[(math $at + 1)..-1]
  __svc_words $after (commandline -ct)
end
complete -c svc -f -a '(__svc_complete)'
complete -c svc-platform -f -a '(__svc_complete)'
complete -c npx -n '__fish_seen_subcommand_from svc svc-platform' -f -a '(__svc_npx)'
