/** The slot that a task occupies among concurrent browsers. A task has a slot when it starts. */
export interface Slot {
  /** Frees the slot while the browser is idle. */
  leave(): void
  /** Resolves when the task has a slot again. Rejects when the task is stopped. */
  enter(): Promise<void>
}

/** Slot for a browser outside the shared pool. It has no effect. */
export const FIXED_SLOT: Slot = { leave: () => undefined, enter: async () => undefined }

/**
 * A task that runs in the browser process. The plan and the messages are sent through a pipe, so they must be plain
 * values (structured clone). The task ends when its promise settles or the pipe closes.
 */
export type Task<Plan = unknown, Message = unknown> = (
  plan: Plan,
  tell: (message: Message) => void,
  stopping: AbortSignal,
  place: Slot,
) => Promise<void>
