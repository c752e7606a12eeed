// The scripts that tie the completion to a shell. Each asks the program, so it knows its commands whatever its version.
import type { Run } from './command.ts'

/** Readline replaces only what follows the last `:` or `=` of a word, so candidates are cut there. */
const bash = `# Completion of shelftrace for bash. Add this line to ~/.bashrc:
#   source <(shelftrace completion bash)
_shelftrace() {
  local line="\${COMP_LINE:0:COMP_POINT}" current='' cut='' value help
  local -a typed=()
  read -ra typed <<< "$line"
  [[ "$line" == *[[:space:]] ]] && typed+=('')
  current="\${typed[\${#typed[@]}-1]}"
  [[ "$COMP_WORDBREAKS" == *:* && "$current" == *:* ]] && cut="\${current%:*}:"
  [[ "$COMP_WORDBREAKS" == *=* && "$cut" != *=* && "$current" == *=* ]] && cut="\${current%=*}="
  COMPREPLY=()
  while IFS=$'\\t' read -r value help; do
    if [[ "$value" == ':files' ]]; then
      if type compopt > /dev/null 2>&1; then
        compopt -o default
      else
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current")
      fi
    else
      COMPREPLY+=("\${value#"$cut"}")
    fi
  done < <("$1" complete -- "\${typed[@]:1}" 2> /dev/null)
}
complete -F _shelftrace shelftrace
`

const zsh = `#compdef shelftrace
# Completion of shelftrace for zsh. Add these lines to ~/.zshrc:
#   autoload -U compinit && compinit
#   source <(shelftrace completion zsh)
_shelftrace() {
  local value help
  local -a candidates typed
  typed=("\${(@Q)words[2,CURRENT-1]}" "$PREFIX")
  while IFS=$'\\t' read -r value help; do
    if [[ "$value" == ':files' ]]; then
      _files
      return
    fi
    candidates+=("\${value//:/\\\\:}\${help:+:$help}")
  done < <("\${(Q)words[1]}" complete -- "\${typed[@]}" 2> /dev/null)
  _describe -t values shelftrace candidates
}
if [[ "\${funcstack[1]}" == _shelftrace ]]; then
  _shelftrace "$@"
else
  compdef _shelftrace shelftrace
fi
`

const fish = `# Completion of shelftrace for fish. Save it where fish looks for it:
#   shelftrace completion fish > ~/.config/fish/completions/shelftrace.fish
function __shelftrace_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  for line in ($typed[1] complete -- $typed[2..-1] "$current" 2> /dev/null)
    if test "$line" = ':files'
      __fish_complete_path "$current"
    else
      printf '%s\\n' $line
    end
  end
end
complete -c shelftrace -f -a '(__shelftrace_complete)'
`

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }

export const completion: Run = async ({ positionals, write }) => {
  await write(scripts[positionals[0] ?? ''] ?? '')
  return 0
}
