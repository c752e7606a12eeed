/** What went wrong, in the words of the person at the terminal: no stack, and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** 1: the command failed. 2: it was not understood. */
  readonly exitCode: 1 | 2

  constructor(
    message: string,
    options: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {}
  ) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: 2 })
}
