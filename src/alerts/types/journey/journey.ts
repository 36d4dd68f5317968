import { checkConditions, type RuleCheck, targetOf } from '../../../conditions/condition.ts'
import { filtersSql } from '../../../conditions/condition-sql.ts'
import { resolveLabelConditions } from '../../../conditions/label-conditions.ts'
import { HOUR_MS } from '../../../core/clock.ts'
import { countText } from '../../../core/text.ts'
import { type MembersOf, noMembers } from '../../../labels/label.ts'
import type { Binder, Query } from '../../../warehouse/query.ts'
import { type Alert, type AlertInput, domainsOf } from '../../alert.ts'
import type { Finding, Window } from '../../finding.ts'
import { cachedByRows, organizationOf, type WatchedDomain, type WindowType } from '../alert-type.ts'
import { scopeOfIssue, scopeTests } from '../event-scope.ts'
import type { EventFilter, Evidence, EvidenceContext } from '../evidence.ts'
import { type HistoryOptions, type HistoryQuery, UNLIMITED } from '../history-query.ts'
import type { TitleParts } from '../issue-messages.ts'
import { rejectConditions, rejectInexactConditions } from '../reject-conditions.ts'
import type { Matcher } from './journey-plan.ts'
import { conditionsIn, type Hit, judgeSession, type Plan, planOf, readShape, type Unmet } from './journey-plan.ts'
import { type JourneySpec, JourneySpecSchema, readSpec } from './journey-spec.ts'
import {
  journeysQuery,
  MAX_SHAPES,
  SESSION_GAP_MS,
  type SessionVerdict,
  type ShapeRow,
  sessionsRelation,
} from './journey-sql.ts'

const MAX_HOSTS = 20
/** Alerts with longer windows are measured in separate queries. */
const LONG_WINDOW_MS = 6 * HOUR_MS
/** Maximum number of events per query; more would spill to disk. */
const EVENTS_AT_ONCE = 2_000_000

const byAlert = cachedByRows((rows: readonly ShapeRow[]) => Map.groupBy(rows, ({ alertId }) => alertId))
const FAULT_TEXT = 'sessions do not follow the journey'
const planFor = (alert: Alert) => planOf(readSpec(alert.journey))

/** One expected event of a journey, in either form. */
type Expectation = Extract<JourneySpec, { version: 2 }>['steps'][number]['expect'][number]

/** The series consists of the issue's occurrences, because the events do not show which sessions failed. */
const journeyEvidence: Evidence = {
  seriesDescription: 'sessions that did not follow the journey',

  series: () => 'occurrences',

  validMatchesViolating: false,

  valid: (incident) => ({
    where: (binder) => missedEventsSql(incident, binder),
  }),

  sessions({ rule, issue, membersOf = noMembers }, window, { oneIn }) {
    const { id, orgId, filters = [] } = rule
    const plan = planFor(rule)
    const domainIds = issue.domainId === null ? domainsOf(rule) : [issue.domainId]
    const walked = { id, plan, filters, domainIds }
    return {
      query: journeysQuery(orgId, [walked], [window], { membersOf, oneIn }),
      relationOf(rows: readonly ShapeRow[]) {
        const verdicts = verdictsOf(plan, rows)
        return verdicts && sessionsRelation(walked, { window, verdicts }, { membersOf, oneIn })
      },
    }
  },
}

/**
 * Returns the verdicts on the sessions that reached the step at which most sessions fail: those that fail at this step,
 * and those that follow the journey. Each session is represented by the event at which it reached the step. Sessions
 * that fail at other steps have no verdict. Null if no session fails.
 */
function verdictsOf(plan: Plan, rows: readonly ShapeRow[]): SessionVerdict[] | null {
  const judged = rows.map((row) => ({
    row,
    ...judgeSession(
      plan,
      readShape(row.shape).map(({ matches }) => matches),
    ),
  }))
  const failed = Map.groupBy(
    judged.flatMap(({ row, unmet }) => (unmet ? [{ row, step: unmet.step }] : [])),
    ({ step }) => step,
  )
  const [most] = [...failed].sort(([a, rowsA], [b, rowsB]) => sumOf(rowsB) - sumOf(rowsA) || a - b)
  if (!most) return null
  const [step] = most
  return judged.flatMap(({ row: { startSeq }, starts, unmet }) => {
    const start = starts[step]
    const isCompared = start !== undefined && (unmet === null || unmet.step === step)
    return isCompared ? [{ startSeq, place: start + 1, violates: unmet !== null }] : []
  })
}

/**
 * Returns a filter for the events that were missing in the sessions of the last finding. Matches no event when the
 * sessions failed several expectations.
 */
function missedEventsSql(incident: EvidenceContext & { rule: Alert }, binder: Binder): EventFilter {
  const { vendor = null, event = null } = incident.issue.evidence ?? {}
  const { membersOf = noMembers } = incident
  const missed = expectationsOf(readSpec(incident.rule.journey)).filter(
    (one) => !one.label && (one.vendor || null) === vendor && (one.event || null) === event,
  )
  const data = missed.map((one) => filtersSql(resolveLabelConditions(one.data ?? [], membersOf), binder))
  const scope = scopeOfIssue(incident, { vendors: vendor === null ? [] : [vendor], event })
  return {
    sql: [...scopeTests(scope, binder), `(${['false', ...data.map(({ sql }) => sql)].join(' OR ')})`].join(' AND '),
    keys: data.flatMap(({ keys }) => keys),
    wholeParams: data.some(({ wholeParams }) => wholeParams),
  }
}

function expectationsOf(spec: JourneySpec): readonly Expectation[] {
  return 'version' in spec ? spec.steps.flatMap(({ expect }) => expect) : spec.steps
}

/**
 * Fires for each domain in which a session that ended in the window does not follow the journey.
 * An alert evaluates the sessions of its domains in which at least one event passes all of its `filters`. In these
 * sessions it considers all events, regardless of kind, environment and vendor. `vendors` is ignored, because a
 * vendor's missing event can't be detected from the events of another vendor.
 */
export const journey = {
  kind: 'journey',
  evaluated: 'by window',
  form: {
    title: 'Journey',
    judges: 'sessions, by `journey`',
    guide: { fires: 'for sessions that do not follow the expected steps', needs: '`journey`' },
    notes: {
      vendors: 'Ignored by `journey`',
      filters: 'For `journey`: selects sessions with at least one matching event',
    },
    configuration: { field: 'journey', schema: JourneySpecSchema, read: readSpec },
    example: {
      name: 'Thank-you page without conversion',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      alertType: 'journey',
      severity: 'high',
      journey: {
        version: 2,
        steps: [
          {
            anchor: { kind: 'page', path: '/checkout/thanks', op: 'starts_with' },
            expect: [
              { vendor: 'Google Analytics 4', event: 'purchase' },
              { vendor: 'Meta Pixel', event: 'Purchase' },
            ],
          },
        ],
      },
      period: '1h',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },

    check(input: AlertInput, rule: RuleCheck): void {
      rejectConditions(
        input,
        'not allowed in a journey alert; use `data` for conditions on an expected event, and `filters` to select sessions',
      )
      rejectInexactConditions(input.filters ?? [], 'filters')
      checkSpec(readSpec(input.journey), rule)
    },
  },

  messages: {
    unit: { one: 'session', many: 'sessions', meaning: 'sessions that did not follow the journey' },
    title: ({ name, where }: TitleParts) => `${name}: ${FAULT_TEXT}${where}`,
    summary: () => FAULT_TEXT,
    expected: 'every session follows the journey',
    countsFirings: false,
    explainsDrops: false,
    isRise: () => null,
    summarize: () => null,
  },

  evidence: journeyEvidence,

  partial: true,
  settlingMs: SESSION_GAP_MS,
  countedRanges: () => null,

  ownConditions: ({ journey }: Alert) => conditionsIn(readSpec(journey)),

  // All events are in scope, because whole sessions are evaluated.
  scope: () => ({ vendors: [], event: null }),

  // In a long window, the sessions for many alerts together would exceed the available memory.
  scanKey: ({ id }: Alert, { from, to }: Window) => (to - from > LONG_WINDOW_MS ? id.slice(-1) : ''),

  /** `scopeMembers`: the members of the organization's labels. */
  measure(
    alerts: readonly Alert[],
    window: Window,
    _domains: readonly WatchedDomain[],
    membersOf: MembersOf = noMembers,
  ): Query {
    const walked = alerts.map((alert) => ({ ...alert, plan: planFor(alert) }))
    return journeysQuery(organizationOf(alerts), walked, [window], { membersOf })
  },

  history: {
    limits: { events: EVENTS_AT_ONCE, windows: UNLIMITED, rows: UNLIMITED },

    /** Like `measure`. Samples senders, including all sessions of each sampled sender. */
    query(
      alert: Alert,
      windows: readonly Window[],
      { oneIn }: HistoryOptions,
      membersOf: MembersOf = noMembers,
    ): HistoryQuery<ShapeRow> {
      const rowsOf = (answer: readonly ShapeRow[]) => {
        const byWindow = Map.groupBy(answer, ({ windowIndex }) => windowIndex)
        return windows.map((_, place) => byWindow.get(place) ?? [])
      }
      return {
        method: 'sql',
        query: journeysQuery(alert.orgId, [{ ...alert, plan: planFor(alert) }], windows, { membersOf, oneIn }),
        rowsOf,
        isComplete: (answer) => rowsOf(answer).every((rows) => rows.length < MAX_SHAPES),
      }
    },
  },

  judge(alert: Alert, rows: readonly ShapeRow[]): Finding[] {
    const plan = planFor(alert)
    const own = byAlert(rows).get(alert.id) ?? []
    const isCut = own.length >= MAX_SHAPES
    const byDomain = Map.groupBy(own, ({ domainId }) => domainId)
    return [...byDomain].sort(byName).flatMap(([domainId, rows]) => findingsIn(domainId, rows, plan, isCut))
  },
} satisfies WindowType<ShapeRow>

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** Throws `AppError('invalid')` for a condition in an expectation that is invalid or can't be evaluated exactly. */
function checkSpec(spec: JourneySpec, rule: RuleCheck): void {
  if (!('version' in spec)) return
  for (const [index, { expect }] of spec.steps.entries()) {
    for (const [place, { data = [] }] of expect.entries()) {
      const path = `journey.steps[${index}].expect[${place}].data`
      checkConditions(data, path, rule)
      rejectInexactConditions(data, path)
    }
  }
}

/** A shape with its sessions and the expectation at which they fail. */
interface JudgedSessions {
  row: ShapeRow
  hits: readonly Hit[]
  unmet: Unmet
}

function findingsIn(domainId: string, rows: readonly ShapeRow[], plan: Plan, isCut: boolean): Finding[] {
  const verdicts = rows.map((row) => {
    const hits = readShape(row.shape)
    const shape = hits.map(({ matches }) => matches)
    return { row, hits, ...judgeSession(plan, shape) }
  })
  const failed = verdicts.flatMap(({ unmet, ...walked }): JudgedSessions[] => (unmet ? [{ ...walked, unmet }] : []))
  const [first, ...others] = missesOf(failed)
  const newest = failed.toSorted((a, b) => b.row.lastSeq - a.row.lastSeq)[0]
  if (!first || !newest) return []
  const occurrences = Math.max(1, Math.round(sumOf(failed)))
  const earliest = Math.min(...[first, ...others].map(({ unmet }) => unmet.step))
  const total = Math.max(occurrences, Math.round(sumOf(verdicts.filter(({ reached }) => reached > earliest))))
  const summary = journeySummary(plan, [first, ...others], occurrences, total)
  return [
    {
      domainId,
      subject: '',
      vendor: only(failed.map(({ unmet }) => unmet.matcher.vendor)),
      event: only(failed.map(({ unmet }) => unmet.matcher.event)),
      occurrences,
      summary: isCut ? `at least ${summary}` : summary,
      observed: occurrences,
      expected: 0,
      firstAt: Math.min(...failed.map(({ row }) => row.firstAt)),
      lastAt: Math.max(...failed.map(({ row }) => row.lastAt)),
      hosts: hostsOf(failed),
      sample: null,
      ...sampleOf(newest),
    },
  ]
}

const sumOf = (walked: readonly { row: ShapeRow }[]) => walked.reduce((sum, { row }) => sum + row.sessions, 0)

/** Returns the unmet expectations, those with the most sessions first. */
function missesOf(failed: readonly JudgedSessions[]): Miss[] {
  const byPlace = Map.groupBy(failed, ({ unmet }) => unmet.step * 1000 + unmet.expect)
  return [...byPlace.values()]
    .flatMap((walked): Miss[] => {
      const [first] = walked
      if (!first) return []
      const sessions = Math.max(1, Math.round(sumOf(walked)))
      return [{ unmet: first.unmet, sessions, misplaced: walked.every(({ unmet }) => unmet.misplaced) }]
    })
    .sort((a, b) => b.sessions - a.sessions || a.unmet.step - b.unmet.step || a.unmet.expect - b.unmet.expect)
}

/** Returns the event at which the failed step began. */
function sampleOf({ row, hits, unmet }: JudgedSessions): { sampleSeq: number; sampleAt: number } {
  const { seq = 0, receivedAt = 0 } = hits[unmet.at] ?? {}
  return { sampleSeq: row.startSeq + seq, sampleAt: row.startAt + receivedAt }
}

function only(values: readonly (string | null)[]): string | null {
  const [first = null, ...others] = new Set(values)
  return others.length === 0 ? first : null
}

/** Most frequent first, then by name. */
function hostsOf(failed: readonly JudgedSessions[]): string[] {
  const sessions = new Map<string, number>()
  for (const { row } of failed) {
    if (row.host !== null) sessions.set(row.host, (sessions.get(row.host) ?? 0) + row.sessions)
  }
  return [...sessions]
    .sort((a, b) => b[1] - a[1] || byName(a, b))
    .slice(0, MAX_HOSTS)
    .map(([host]) => host)
}

/** Sessions that fail at the same expectation. */
interface Miss {
  unmet: Unmet
  /** An integer, at least 1. */
  sessions: number
  /** True when all of these sessions have the expected event, but in the wrong order. */
  misplaced: boolean
}

/**
 * Returns one sentence without a full stop: `12 of 240 sessions missed Meta Pixel Purchase after page /thanks`.
 * `misses` has at least one entry, the most frequent first. `failed`: number of failed sessions; `total`: number of
 * sessions that reached the step.
 */
function journeySummary(plan: Plan, misses: readonly [Miss, ...Miss[]], failed: number, total: number): string {
  const [most, ...others] = misses
  const share = `${countText(failed)} of ${countText(total)} ${total === 1 ? 'session' : 'sessions'}`
  const what = missText(plan, { ...most.unmet, misplaced: most.misplaced })
  return others.length === 0
    ? `${share} ${what}`
    : `${share} did not follow the journey; ${countText(most.sessions)} of them ${what}`
}

/** Describes an unmet expectation: `missed Meta Pixel Purchase after page /thanks`. */
export function missText(plan: Plan, unmet: Unmet): string {
  const { misplaced, matcher } = unmet
  const fault = `${misplaced ? 'showed' : 'missed'} ${matcherText(matcher)}${misplaced ? ' out of order' : ''}`
  return fault + anchorText(plan, unmet)
}

function anchorText(plan: Plan, { anchor }: Unmet): string {
  if (anchor === null) return ''
  return ` ${plan.form === 'legacy' ? 'before' : 'after'} ${matcherText(anchor)}`
}

function matcherText({ page, label, vendor, event, data }: Matcher): string {
  if (page)
    return (
      { equals: 'page ', contains: 'a page containing ', starts_with: 'a page starting with ' }[page.op] + page.path
    )
  const name = [vendor, event, ...(label === null ? [] : [`${vendor || event ? 'with ' : ''}label ${label}`])]
  const joint = label !== null && (vendor || event) ? 'and' : 'with'
  const parts = [...name.filter(Boolean), ...(data.length > 0 ? [`${joint} the expected ${parameterNames(data)}`] : [])]
  return parts.length > 0 ? parts.join(' ') : 'any event'
}

/** Values are omitted, because the rule may treat them as personal data. */
function parameterNames(data: Matcher['data']): string {
  const isNamed = data.every((condition) => targetOf(condition).kind !== 'any')
  return isNamed ? [...new Set(data.map(({ parameter }) => parameter))].join(', ') : 'data'
}
