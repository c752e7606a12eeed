import type { Option } from '../command.ts'

export const limitOption: Option = {
  value: 'N',
  help: 'rows of a page, 1 to 1000 (default 100)',
}

export const afterOption: Option = {
  value: 'NEXT',
  help: 'go on behind the page before, which names it',
}
