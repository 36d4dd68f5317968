import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { personalIn } from '../conditions/personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { cutText } from '../core/text.ts'
import { isAutomatic, isPageSpecific } from '../flows/derive-expectations.ts'
import { duplicatesIn, isCounter } from '../flows/duplicate-events.ts'
import { timesText } from '../flows/finding-text.ts'
import { evidenceOf, type Fault, type Judged } from './judge-recording.ts'
import type { RecordedEvent, Recording } from './recording.ts'
import { type EventKind, type GateReport, MAX_EVENT_KINDS } from './report.ts'

/** The events of one kind, with the recorded events. */
interface Group {
  kind: EventKind
  events: readonly RecordedEvent[]
}

const MAX_PARAMETERS = 500

const keyOf = ({ vendor, event, account, page }: EventKind) => JSON.stringify([vendor, event, account, page])

/**
 * Returns the kinds of events in a recording. Events that libraries send irregularly, such as heartbeats, are omitted.
 * Values of parameters are not included.
 */
export function eventKinds(recording: Recording, privacy: Privacy): EventKind[] {
  return groupsOf(recording, privacy)
    .map(({ kind }) => kind)
    .slice(0, MAX_EVENT_KINDS)
}

function groupsOf({ events }: Recording, privacy: Privacy): Group[] {
  const told = events.filter(({ event }) => event.kind === 'event' && !isAutomatic(event.event))
  const groups = Map.groupBy(told, ({ event: { vendor, event, account, segments } }) =>
    JSON.stringify([vendor, event, account, segments.pageGroup]),
  )
  return [...groups.values()].flatMap((group): Group[] => {
    const [first] = group
    if (!first) return []
    const { vendor, event, account, segments } = first.event
    const mask = (text: string, key: string, length: number) => cutText(maskPersonal(text, key, privacy), length)
    const copies = duplicatesIn(group.map((one) => one.event)).reduce((sum, same) => sum + same.length - 1, 0)
    return [
      {
        kind: {
          vendor: mask(vendor, '$vendor', 200),
          event: mask(event, '$event', 200),
          account: account === null ? null : mask(account, '$account', 200),
          page: segments.pageGroup === null ? null : mask(segments.pageGroup, '$path', 2000),
          count: group.length,
          copies,
          parameters: sharedParameters(group, privacy),
        },
        events: group,
      },
    ]
  })
}

/** Returns the parameters that the site set in every one of these events, sorted. */
function sharedParameters(events: readonly RecordedEvent[], privacy: Privacy): string[] {
  const [first] = events
  if (!first) return []
  const { vendor, params } = first.event
  const isShared = (key: string) => events.every((one) => has(one, key))
  return Object.entries(params)
    .filter(
      ([key, value]) =>
        key !== '' && key.length <= 200 && isPageSpecific(vendor, key) && !isCounter(vendor, key, value),
    )
    .filter(([key]) => isShared(key) && personalIn('', key, privacy).length === 0)
    .map(([key]) => key)
    .sort()
    .slice(0, MAX_PARAMETERS)
}

const has = ({ event: { params } }: RecordedEvent, key: string) =>
  Object.hasOwn(params, key) && (params[key] ?? '').trim() !== ''

/**
 * Compares a recording with a baseline: events that are missing, unexpected or sent more often, and parameters that
 * every event of the baseline had.
 */
export function compareWithBaseline(
  recording: Recording,
  baseline: { name: string; events: readonly EventKind[] },
  privacy: Privacy,
): Judged {
  const recorded = new Map(groupsOf(recording, privacy).map((group) => [keyOf(group.kind), group]))
  const expected = new Map(baseline.events.map((kind) => [keyOf(kind), kind]))
  const added = [...recorded.values()].filter(({ kind }) => !expected.has(keyOf(kind)))
  const findings: Fault[] = []
  for (const [key, kind] of expected) {
    const group = recorded.get(key)
    if (group) findings.push(...differences(kind, group, privacy))
    else {
      const at = added.findIndex(({ kind: { vendor, event } }) => vendor === kind.vendor && event === kind.event)
      const [moved] = at < 0 ? [] : added.splice(at, 1)
      findings.push(missing(kind, moved, privacy))
    }
  }
  for (const { kind, events } of added) findings.push(unexpected(kind, events, privacy))
  return {
    check: {
      kind: 'baseline',
      id: null,
      name: cutText(`Same events as in the baseline ${baseline.name}`, 300),
      severity: null,
      status: findings.length > 0 ? 'failed' : 'passed',
      reason: null,
      events: [...recorded.values()].reduce((sum, { kind }) => sum + kind.count, 0),
    },
    findings,
  }
}

const nameOf = ({ vendor, event }: EventKind) => [vendor, event].filter(Boolean).join(' ')
const pageOf = ({ page }: EventKind) => (page === null ? '' : ` on ${page}`)
const accountOf = ({ account }: EventKind) => (account === null ? 'without an account' : `for the account ${account}`)

function faultOf(kind: EventKind, event: RecordedEvent | undefined, privacy: Privacy) {
  const { vendor, event: name } = kind
  const evidence = event ? evidenceOf(event, privacy) : null
  return { vendor, event: name, parameters: [] as Fault['parameters'], evidence }
}

function missing(kind: EventKind, moved: Group | undefined, privacy: Privacy): Fault {
  const where = moved && (moved.kind.page === kind.page ? accountOf(moved.kind) : pageOf(moved.kind).trim())
  const instead = where ? `; it fired ${where} instead` : ''
  return {
    ...faultOf(kind, moved?.events[0], privacy),
    kind: 'missing',
    sentence: `${nameOf(kind)} did not fire${pageOf(kind)}${instead}; it fired ${timesText(kind.count)} ${accountOf(kind)} in the baseline`,
    expected: timesText(kind.count),
    observed: null,
    count: 1,
  }
}

function unexpected(kind: EventKind, events: readonly RecordedEvent[], privacy: Privacy): Fault {
  return {
    ...faultOf(kind, events[0], privacy),
    kind: 'unexpected',
    sentence: `${nameOf(kind)} fired ${timesText(kind.count)}${pageOf(kind)} ${accountOf(kind)}; it is not in the baseline`,
    expected: 'none',
    observed: timesText(kind.count),
    count: kind.count,
  }
}

function differences(expected: EventKind, { kind, events }: Group, privacy: Privacy): Fault[] {
  const name = nameOf(kind)
  const place = pageOf(kind)
  const counts = { expected: timesText(expected.count), observed: timesText(kind.count) }
  const found: Fault[] = []
  if (kind.count < expected.count) {
    found.push({
      ...faultOf(kind, events[0], privacy),
      ...counts,
      kind: 'missing',
      sentence: `${name} fired ${timesText(kind.count)}${place}, not ${timesText(expected.count)} as in the baseline`,
      count: expected.count - kind.count,
    })
  } else if (kind.count > expected.count) {
    const isCopy = kind.copies > expected.copies
    const again = duplicatesIn(events.map(({ event }) => event))[0]?.[1]
    const extra = isCopy ? events.find(({ event }) => event === again) : events[expected.count]
    const what = isCopy ? `was sent ${timesText(kind.copies + 1)} with the same data` : `fired ${timesText(kind.count)}`
    found.push({
      ...faultOf(kind, extra, privacy),
      ...counts,
      kind: isCopy ? 'duplicate' : 'unexpected',
      sentence: `${name} ${what}${place}; ${timesText(expected.count)} in the baseline`,
      count: kind.count - expected.count,
    })
  }
  return [...found, ...lostParameters(expected, { kind, events }, privacy)]
}

function lostParameters(expected: EventKind, { kind, events }: Group, privacy: Privacy): Fault[] {
  const lost = expected.parameters.filter((key) => !events.every((one) => has(one, key)))
  if (lost.length === 0) return []
  const lacking = events.filter((one) => lost.some((key) => !has(one, key)))
  const names = lost.slice(0, 5).map((key) => `\`${key}\``)
  const more = lost.length > names.length ? ` and ${lost.length - names.length} more` : ''
  const share = events.length === 1 ? '' : ` in ${lacking.length} of ${events.length} events`
  return [
    {
      ...faultOf(kind, lacking[0], privacy),
      kind: 'wrong_data',
      sentence: `${nameOf(kind)} had no ${names.join(', ')}${more}${pageOf(kind)}${share}; it had a value in the baseline`,
      expected: `a value of ${names.join(', ')}${more}`,
      observed: 'no value',
      count: lacking.length,
      parameters: lost
        .slice(0, 100)
        .map((key) => ({ parameter: key, expected: `a value of \`${key}\``, observed: null })),
    },
  ]
}

/**
 * True when a run can be approved as a baseline: it has events, and nothing but the comparison with another baseline
 * failed.
 */
export function canBecomeBaseline({ checks, events }: Pick<GateReport, 'checks' | 'events'>): boolean {
  return events.length > 0 && checks.every(({ kind, status }) => kind === 'baseline' || status !== 'failed')
}
