/** A call buffered before the script ran: name of the function or event, its receiver, arguments and time. */
export type EarlyCall = [name: string, self: unknown, args: unknown[], at: number]

/** Commands and requests buffered until the script runs. */
export interface CommandQueue extends Array<ArrayLike<unknown>> {
  /** Null once the main script captures requests. */
  early?: EarlyCall[] | null
  /** True on pages that have the snippet. */
  isSnippet?: boolean
}

/** The properties of the window that pages, tag managers and this script share. */
export interface SharedWindow {
  tagwarden?: (...command: unknown[]) => void
  tagwardenQueue?: CommandQueue
}
