import type { Condition } from '../../../conditions/condition.ts'
import type { JourneySpec } from './journey-spec.ts'

type Step = Extract<JourneySpec, { version: 2 }>['steps'][number]

/** The requirements of a step or an expectation on one event. Null fields and an empty `data` require nothing. */
export interface Matcher {
  page: { op: 'equals' | 'contains' | 'starts_with'; path: string } | null
  label: string | null
  vendor: string | null
  event: string | null
  data: readonly Condition[]
}

/** A compiled journey. Steps refer to matchers by index in `matchers`, which contains each matcher once. */
export type Plan = { matchers: readonly Matcher[] } & (
  | {
      form: 'steps'
      /** `anchor` is null for the start of the session. */
      steps: readonly { anchor: number | null; expect: readonly { matcher: number; ordered: boolean }[] }[]
    }
  | { form: 'legacy'; order: readonly number[] }
)

/**
 * A session reduced to the data that the plan needs: its events sorted by `ts`, then `seq`, each as the indexes of the
 * matchers that it matches. Events without a match may be omitted.
 */
export type Shape = readonly (readonly number[])[]

/** The first unmet expectation in the first failed step of a session. */
export interface Unmet {
  /** Index in the specification. In the legacy form it is 0, and `expect` is the index of the missing step. */
  step: number
  expect: number
  matcher: Matcher
  /** The event that did occur in the session: the step's anchor, or the last step in the legacy form. */
  anchor: Matcher | null
  /** Index in the shape of the event that matched `anchor`; -1 for the start of the session. */
  at: number
  /** True when the expected event occurred, but in the wrong order. */
  misplaced: boolean
}

export interface Verdict {
  /**
   * Number of steps that the session reached, counted from the first. In the legacy form, 1 when the session has the
   * last step.
   */
  reached: number
  /**
   * Index in the shape at which each reached step begins; -1 for the start of the session. In the legacy form, the index
   * of the last event that matches the last step.
   */
  starts: readonly number[]
  /** Null when the session follows the journey. */
  unmet: Unmet | null
}

const SESSION_START = -1

/** Compiles a specification. Equal specifications have equal plans, with their matchers in the same order. */
export function planOf(spec: JourneySpec): Plan {
  const matchers: Matcher[] = []
  const places = new Map<string, number>()
  const placeOf = (fields: Partial<Matcher>) => {
    const matcher: Matcher = {
      page: fields.page ?? null,
      label: fields.label || null,
      vendor: fields.vendor || null,
      event: fields.event || null,
      data: fields.data ?? [],
    }
    const key = keyOf(matcher)
    const place = places.get(key) ?? matchers.push(matcher) - 1
    places.set(key, place)
    return place
  }
  if (!('version' in spec)) return { form: 'legacy', order: spec.steps.map(placeOf), matchers }
  const steps = spec.steps.map(({ anchor, expect }) => ({
    anchor: anchorMatcher(anchor, placeOf),
    expect: expect.map(({ ordered = false, ...fields }) => ({ matcher: placeOf(fields), ordered })),
  }))
  return { form: 'steps', steps, matchers }
}

/** Returns the same key for equal matchers. */
export const keyOf = ({ page, label, vendor, event, data }: Matcher) =>
  JSON.stringify([page, label, vendor, event, data])

/** Returns every condition of a journey on events. */
export function conditionsIn(spec: JourneySpec): Condition[] {
  if (!('version' in spec)) return []
  return spec.steps.flatMap(({ expect }) => expect.flatMap(({ data = [] }) => data))
}

function anchorMatcher(anchor: Step['anchor'], placeOf: (fields: Partial<Matcher>) => number): number | null {
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
 * Evaluates one session.
 * A step begins at the first event after the beginning of the previous step that matches its anchor, and that event
 * belongs to the step. The start of a session precedes its first event, so a step after the start may begin with the
 * first event. A session starts only once, so a later step anchored at the start is never reached. One event may meet
 * several expectations, but each ordered expectation requires a separate event, after the event of the previous ordered
 * expectation.
 * Legacy form: when the session has the last step, all other steps must precede the last event that matches it, in
 * order, each with a separate event.
 */
export function judgeSession(plan: Plan, shape: Shape): Verdict {
  if (plan.form === 'legacy') return judgeLegacySession(plan.matchers, plan.order, shape)
  const { matchers, steps } = plan
  const starts = startsOf(steps, shape)
  for (const [step, start] of starts.entries()) {
    const { anchor = null, expect = [] } = steps[step] ?? {}
    const fault = faultIn(expect, shape, Math.max(start, 0), starts[step + 1] ?? shape.length)
    const matcher = fault && matchers[fault.matcher]
    if (!matcher) continue
    const { index, misplaced } = fault
    const instead = anchor === null ? null : (matchers[anchor] ?? null)
    return {
      reached: starts.length,
      starts,
      unmet: { step, expect: index, matcher, anchor: instead, at: start, misplaced },
    }
  }
  return { reached: starts.length, starts, unmet: null }
}

/** Returns the index at which each reached step begins. */
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
  index: number
  matcher: number
  misplaced: boolean
}

/** Returns the first expectation that the events in `[from, to)` do not meet. */
function faultIn(
  expect: readonly { matcher: number; ordered: boolean }[],
  shape: Shape,
  from: number,
  to: number,
): Fault | null {
  const used = new Set<number>()
  let next = from
  for (const [index, { matcher, ordered }] of expect.entries()) {
    const at = find(shape, matcher, ordered ? next : from, to)
    if (at < 0) return { index, matcher, misplaced: ordered && find(shape, matcher, from, next, used) >= 0 }
    if (!ordered) continue
    used.add(at)
    next = at + 1
  }
  return null
}

function judgeLegacySession(matchers: readonly Matcher[], order: readonly number[], shape: Shape): Verdict {
  const last = order.at(-1)
  const at = last === undefined ? -1 : shape.findLastIndex((event) => event.includes(last))
  if (last === undefined || at < 0) return { reached: 0, starts: [], unmet: null }
  const earlier = order.slice(0, -1).map((matcher) => ({ matcher, ordered: true }))
  const fault = faultIn(earlier, shape, 0, at)
  const matcher = fault && matchers[fault.matcher]
  if (!matcher) return { reached: 1, starts: [at], unmet: null }
  const { index, misplaced } = fault
  const unmet = { step: 0, expect: index, matcher, anchor: matchers[last] ?? null, at, misplaced }
  return { reached: 1, starts: [at], unmet }
}

const NONE: ReadonlySet<number> = new Set()

/** Returns the index of the first matching event in `[from, to)`, ignoring those in `except`; -1 when there is none. */
function find(shape: Shape, matcher: number, from: number, to: number, except = NONE): number {
  for (let at = from; at < to; at++) if (shape[at]?.includes(matcher) && !except.has(at)) return at
  return -1
}

/** An event of a session that matches at least one matcher. */
export interface Hit {
  matches: number[]
  /** `seq` and `receivedAt` relative to the session's first event. */
  seq: number
  receivedAt: number
}

/**
 * Parses the output of `journeysQuery`. `0,2+7+900;1+9+1200` is an event that matches matchers 0 and 2, followed by an
 * event that matches matcher 1. The first event's `seq` is 7, and its `receivedAt` 900 ms, after those of the session's
 * first event.
 */
export function readShape(text: string): Hit[] {
  if (text === '') return []
  return text.split(';').map((hit) => {
    const [matches = '', seq, receivedAt] = hit.split('+')
    return { matches: matches.split(',').map(Number), seq: Number(seq), receivedAt: Number(receivedAt) }
  })
}
