/** The place of a task among the browsers that the server runs at once. A task has it when it begins. */
export interface Place {
  /** Gives the place to others while the browser has nothing to do. */
  leave(): void
  /** Resolves when the task has a place again. Fails when the task is stopped. */
  enter(): Promise<void>
}

/** For a browser that shares with nobody. */
export const KEEPS_PLACE: Place = { leave: () => undefined, enter: async () => undefined }

/**
 * What a browser process does. `plan` and each message go through a pipe, so they are plain values (structured clone).
 * Runs in the process of its own; ends when it resolves or fails, or when the pipe closes.
 */
export type Task<Plan = unknown, Message = unknown> = (
  plan: Plan,
  tell: (message: Message) => void,
  stopping: AbortSignal,
  place: Place,
) => Promise<void>
