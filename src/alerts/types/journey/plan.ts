import type { Condition } from '../../../conditions/condition.ts'
import type { JourneySpec } from './spec.ts'

type Step = Extract<JourneySpec, { version: 2 }>['steps'][number]

/** What a step or an expectation asks of one event; null and no data ask nothing. */
export interface Ask {
  page: { op: 'equals' | 'contains' | 'starts_with'; path: string } | null
  label: string | null
  vendor: string | null
  event: string | null
  data: readonly Condition[]
}

/** A journey as it is walked. It names asks by their place in `asks`, which has each of them once. */
export type Plan = { asks: readonly Ask[] } & (
  | {
      form: 'steps'
      /** `anchor` null: the start of the session. */
      steps: readonly { anchor: number | null; expect: readonly { ask: number; ordered: boolean }[] }[]
    }
  | { form: 'legacy'; order: readonly number[] }
)

/**
 * A session as a plan sees it: its events by `ts`, then `seq`, and of each the asks that it answers. Events that answer
 * none may be left out.
 */
export type Shape = readonly (readonly number[])[]

/** Where a session does not go as expected: at the first expectation of its first step in which one is not met. */
export interface Unmet {
  /** Places in the specification; in the legacy form 0, and the step that is missing. */
  step: number
  expect: number
  ask: Ask
  /** What the session did instead of meeting the expectation: the anchor of the step, or the legacy form's last step. */
  anchor: Ask | null
  /** The event in the shape that answered `anchor`; -1 for the start of the session. */
  at: number
  /** True when what is asked for was there, in the wrong order. */
  misplaced: boolean
}

export interface Verdict {
  /** How many steps the session reached, from the first on; in the legacy form 1 when it shows the last step. */
  reached: number
  /** Null when it went as expected. */
  unmet: Unmet | null
}

const SESSION_START = -1

/** The same specification has the same plan, with its asks in the same places. */
export function planOf(spec: JourneySpec): Plan {
  const asks: Ask[] = []
  const places = new Map<string, number>()
  const placeOf = (said: Partial<Ask>) => {
    const ask: Ask = {
      page: said.page ?? null,
      label: said.label || null,
      vendor: said.vendor || null,
      event: said.event || null,
      data: said.data ?? [],
    }
    const key = keyOf(ask)
    const place = places.get(key) ?? asks.push(ask) - 1
    places.set(key, place)
    return place
  }
  if (!('version' in spec)) return { form: 'legacy', order: spec.steps.map(placeOf), asks }
  const steps = spec.steps.map(({ anchor, expect }) => ({
    anchor: anchorPlace(anchor, placeOf),
    expect: expect.map(({ ordered = false, ...said }) => ({ ask: placeOf(said), ordered })),
  }))
  return { form: 'steps', steps, asks }
}

/** Equal for asks that every event answers alike. */
export const keyOf = ({ page, label, vendor, event, data }: Ask) => JSON.stringify([page, label, vendor, event, data])

/** Every condition that a journey has on events. */
export function dataOf(spec: JourneySpec): Condition[] {
  if (!('version' in spec)) return []
  return spec.steps.flatMap(({ expect }) => expect.flatMap(({ data = [] }) => data))
}

function anchorPlace(anchor: Step['anchor'], placeOf: (said: Partial<Ask>) => number): number | null {
  switch (anchor.kind) {
    case 'session':
      return null
    case 'page':
      return placeOf({ page: { op: anchor.op ?? 'equals', path: anchor.path } })
    case 'label':
      return placeOf({ label: anchor.label })
    case 'event':
      return placeOf({ vendor: anchor.vendor ?? null, event: anchor.event ?? null })
  }
}

/**
 * Walks one session.
 *
 * A step begins at the first event behind the beginning of the step before it that answers its anchor, and that event
 * belongs to it. The start of a session lies before its first event, so a step behind it may begin with that event;
 * and as a session starts once, a later step that waits for it is never reached. One event may meet several
 * expectations, but of the ordered ones each needs an event of its own, behind that of the ordered one before it.
 *
 * Legacy form: when the session shows the last step, all others must come before the last event that does, in order,
 * each by an event of its own.
 */
export function walk(plan: Plan, shape: Shape): Verdict {
  if (plan.form === 'legacy') return walkLegacy(plan.asks, plan.order, shape)
  const { asks, steps } = plan
  const starts = startsOf(steps, shape)
  for (const [step, start] of starts.entries()) {
    const { anchor = null, expect = [] } = steps[step] ?? {}
    const fault = faultIn(expect, shape, Math.max(start, 0), starts[step + 1] ?? shape.length)
    const ask = fault && asks[fault.ask]
    if (!ask) continue
    const { place, misplaced } = fault
    const instead = anchor === null ? null : (asks[anchor] ?? null)
    return { reached: starts.length, unmet: { step, expect: place, ask, anchor: instead, at: start, misplaced } }
  }
  return { reached: starts.length, unmet: null }
}

/** Where each step begins that the session reaches. */
function startsOf(steps: readonly { anchor: number | null }[], shape: Shape): number[] {
  const starts: number[] = []
  for (const { anchor } of steps) {
    if (anchor === null) {
      if (starts.length > 0) break
      starts.push(SESSION_START)
      continue
    }
    const start = find(shape, anchor, (starts.at(-1) ?? SESSION_START) + 1, shape.length)
    if (start < 0) break
    starts.push(start)
  }
  return starts
}

interface Fault {
  place: number
  ask: number
  misplaced: boolean
}

/** The first expectation that the events in `[from, to)` do not meet. */
function faultIn(
  expect: readonly { ask: number; ordered: boolean }[],
  shape: Shape,
  from: number,
  to: number,
): Fault | null {
  const used = new Set<number>()
  let next = from
  for (const [place, { ask, ordered }] of expect.entries()) {
    const at = find(shape, ask, ordered ? next : from, to)
    if (at < 0) return { place, ask, misplaced: ordered && find(shape, ask, from, next, used) >= 0 }
    if (!ordered) continue
    used.add(at)
    next = at + 1
  }
  return null
}

function walkLegacy(asks: readonly Ask[], order: readonly number[], shape: Shape): Verdict {
  const last = order.at(-1)
  const at = last === undefined ? -1 : shape.findLastIndex((event) => event.includes(last))
  if (last === undefined || at < 0) return { reached: 0, unmet: null }
  const earlier = order.slice(0, -1).map((ask) => ({ ask, ordered: true }))
  const fault = faultIn(earlier, shape, 0, at)
  const ask = fault && asks[fault.ask]
  if (!ask) return { reached: 1, unmet: null }
  const { place, misplaced } = fault
  return { reached: 1, unmet: { step: 0, expect: place, ask, anchor: asks[last] ?? null, at, misplaced } }
}

const NONE: ReadonlySet<number> = new Set()

/** The first event in `[from, to)` that answers the ask, without those in `except`; -1 when there is none. */
function find(shape: Shape, ask: number, from: number, to: number, except = NONE): number {
  for (let at = from; at < to; at++) if (shape[at]?.includes(ask) && !except.has(at)) return at
  return -1
}

/** A session's events that answer something. */
export interface Hit {
  answers: number[]
  /** How much larger its `seq` and `receivedAt` are than those of the session's first event. */
  seq: number
  receivedAt: number
}

/**
 * Reads what `journeysSql` writes: `0,2+7+900;1+9+1200` is an event that answers the asks 0 and 2, 7 in `seq` and 900 ms
 * behind the session's first event, then one that answers 1.
 */
export function readShape(text: string): Hit[] {
  if (text === '') return []
  return text.split(';').map((hit) => {
    const [answers = '', seq, receivedAt] = hit.split('+')
    return { answers: answers.split(',').map(Number), seq: Number(seq), receivedAt: Number(receivedAt) }
  })
}
