/** The slot that a task occupies among concurrent browsers. A task starts with a slot. */
export interface Slot {
  /** Frees the slot while the browser is idle. */
  leave(): void
  /** Resolves when the task has a slot again. Rejects when the task is stopped. */
  enter(): Promise<void>
}

/** Placeholder slot for a browser outside the shared pool. */
export const FIXED_SLOT: Slot = { leave: () => undefined, enter: async () => undefined }

/**
 * A task of a browser process. Plan and messages are sent through a pipe, so they must be plain values (structured
 * clone). The task runs in the browser process. It ends when its promise settles or the pipe closes.
 */
export type Task<Plan = unknown, Message = unknown> = (
  plan: Plan,
  tell: (message: Message) => void,
  stopping: AbortSignal,
  place: Slot,
) => Promise<void>
