/** What happened before the script came: the name of the function or event, its receiver and arguments, and when. */
export type EarlyCall = [name: string, self: unknown, args: unknown[], at: number]

/** Commands that wait for the script, and requests that were made before it came. */
export interface CommandQueue extends Array<ArrayLike<unknown>> {
  /** Null once the script looks after requests itself. */
  early?: EarlyCall[] | null
  /** True on pages that have the snippet. */
  isSnippet?: boolean
}

/** The part of the window that pages, tag managers and this script share. */
export interface SharedWindow {
  tagwarden?: (...command: unknown[]) => void
  tagwardenQueue?: CommandQueue
}
