/**
 * Status of a change. `watching`: the watch window is open and no harmful effect is certain. `regressed`: a harmful
 * effect is certain. `clean`: the window ended without a harmful effect. `unclear`: the window ended with too few
 * events.
 */
export const CHANGE_STATUSES = ['watching', 'regressed', 'clean', 'unclear'] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

/**
 * Status of a delivery. `pending`: waits for `dueAt`. `sending`: in progress, or in progress when the server crashed.
 * `failed`: rejected permanently or out of attempts. `withdrawn`: became obsolete before it was sent.
 */
export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed', 'withdrawn'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** Decisions about a compliance finding. `watch`: no decision yet. */
export const FINDING_ACTIONS = ['watch', 'file', 'ignore'] as const
export type FindingAction = (typeof FINDING_ACTIONS)[number]

/** States of a signal. */
export const SIGNAL_STATES = ['learning', 'normal', 'high', 'low', 'silent', 'off'] as const

/** `auto`: monitored, and deviations open issues; `muted`: monitored without opening issues; `off`: not monitored. */
export const SIGNAL_MODES = ['auto', 'muted', 'off'] as const
export type SignalMode = (typeof SIGNAL_MODES)[number]

/** Kinds of objects whose changes are streamed to the pages, which are the names of the stream's events. */
export type StreamedKind = 'issue' | 'delivery' | 'alert' | 'domain' | 'signal' | 'change' | 'run' | 'integration'
