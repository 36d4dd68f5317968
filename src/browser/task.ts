/**
 * What a browser process does. `plan` and each message go through a pipe, so they are plain values (structured clone).
 * Runs in the process of its own; ends when it resolves or fails, or when the pipe closes.
 */
export type Task<Plan = unknown, Message = unknown> = (
  plan: Plan,
  tell: (message: Message) => void,
  stopping: AbortSignal,
) => Promise<void>
