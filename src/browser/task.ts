/** The slot of a task among concurrent browsers. A task has one when it begins. */
export interface Slot {
  /** Gives up the slot while the browser has nothing to do. */
  leave(): void
  /** Resolves when the task has a slot again. Rejects when the task is stopped. */
  enter(): Promise<void>
}

/** For a browser that does not share slots. */
export const FIXED_SLOT: Slot = { leave: () => undefined, enter: async () => undefined }

/**
 * The work of a browser process. `plan` and the messages go through a pipe, so they are plain values (structured
 * clone). Runs in the browser's process; ends when it resolves or rejects, or when the pipe closes.
 */
export type Task<Plan = unknown, Message = unknown> = (
  plan: Plan,
  tell: (message: Message) => void,
  stopping: AbortSignal,
  place: Slot,
) => Promise<void>
