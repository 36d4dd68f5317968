import { joinWords } from '../conditions/condition-text.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { duplicatesIn } from '../flows/duplicate-events.ts'
import {
  conditionRequirement,
  deviationOf,
  eventName,
  expectedName,
  shortfallText,
  timesText,
} from '../flows/finding-text.ts'
import type { CompiledExpectation, LabelMembers } from '../flows/match-expectations.ts'
import type { AuditPage, ExpectedPage } from './audit.ts'
import type { PageEvent, SeenPage } from './crawl-plan.ts'
import { expectedOf } from './page-expectations.ts'

/** A fault found on one page. The same fault on several pages becomes one finding. */
export interface PageFault {
  kind: 'missing' | 'wrong_data' | 'unexpected' | 'duplicate'
  vendor: string | null
  event: string | null
  /** Description without the page, such as `Google Analytics 4 purchase did not fire`. */
  what: string
  expected: string | null
  observed: string | null
}

/** Compares pages with their expectations. */
export interface PageJudge {
  /**
   * Returns the page to store and its faults. A page that could not be loaded has no faults, because no events are
   * expected on such a page.
   */
  judge(page: SeenPage): { page: AuditPage; faults: PageFault[] }
}

/** Returns a `PageJudge` for these expectations. `labels` contains the members of each label that they use. */
export function pageJudge(expect: readonly ExpectedPage[], labels: LabelMembers, privacy: Privacy): PageJudge {
  const expected = expectedOf(expect, labels)
  return {
    judge(seen) {
      const { events, beforeConsent, ...about } = seen
      const faults = [
        ...expected(seen).flatMap((one) => [...tooFew(one, events, privacy), ...tooMany(one, events, privacy)]),
        ...repeated(events, privacy),
      ]
      const of = (...kinds: readonly string[]) => faults.filter(({ kind }) => kinds.includes(kind))
      const page: AuditPage = {
        ...about,
        tags: counted(events),
        missing: of('missing', 'wrong_data').map(({ vendor, event }) => ({ vendor, event })),
        duplicates: repeatedIn(events),
        beforeConsent: counted(beforeConsent).map(({ vendor, event }) => ({ vendor, event })),
        errors: [...seen.errors, ...of('unexpected').map(({ what }) => what)],
      }
      return { page, faults }
    },
  }
}

function counted(events: readonly PageEvent[]): AuditPage['tags'] {
  const groups = Map.groupBy(events, ({ vendor, event, account }) => JSON.stringify([vendor, event, account]))
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? { vendor: first.vendor, event: first.event, account: first.account, count: others.length + 1 } : [],
  )
}

function repeatedIn(events: readonly PageEvent[]): AuditPage['duplicates'] {
  return duplicatesIn(events).map(([{ vendor, event }, ...others]) => ({ vendor, event, count: others.length + 1 }))
}

function tooFew(
  { expectation, isNamed, matches, faultsIn }: CompiledExpectation,
  events: readonly PageEvent[],
  privacy: Privacy,
): PageFault[] {
  const { min, data = [], vendor = null, event = null, label } = expectation
  const count = events.filter(matches).length
  if (count >= min) return []
  const isClear = data.length > 0 && (event !== null || label !== undefined)
  const wrong = isClear ? events.findLast((one) => isNamed(one) && !matches(one)) : undefined
  if (wrong) {
    const faults = faultsIn(wrong)
    const observed = joinWords(faults.map((condition) => deviationOf(condition, wrong, privacy)))
    return [
      {
        kind: 'wrong_data',
        vendor: wrong.vendor,
        event: wrong.event,
        what: `${eventName(wrong, privacy)} had ${observed}`,
        expected: joinWords(faults.map(conditionRequirement)),
        observed,
      },
    ]
  }
  const name = expectedName(expectation)
  return [
    {
      kind: 'missing',
      vendor,
      event,
      what: shortfallText(expectation, count),
      expected: min === 1 ? name : `${name}, ${timesText(min)}`,
      observed: count === 0 ? null : timesText(count),
    },
  ]
}

function tooMany(
  { expectation: { max }, matches }: CompiledExpectation,
  events: readonly PageEvent[],
  privacy: Privacy,
): PageFault[] {
  const fired = events.filter(matches)
  const [first] = fired
  if (max === null || !first || fired.length <= max) return []
  const { vendor, event } = first
  const fault = max === 0 ? 'it must not fire' : `expected at most ${timesText(max)}`
  return [
    {
      kind: 'unexpected',
      vendor,
      event,
      what: `${eventName(first, privacy)} fired ${timesText(fired.length)}; ${fault}`,
      expected: max === 0 ? 'none' : `at most ${timesText(max)}`,
      observed: timesText(fired.length),
    },
  ]
}

function repeated(events: readonly PageEvent[], privacy: Privacy): PageFault[] {
  return duplicatesIn(events).map(([first, ...others]) => ({
    kind: 'duplicate',
    vendor: first.vendor,
    event: first.event,
    what: `${eventName(first, privacy)} was sent ${timesText(others.length + 1)} with the same data`,
    expected: 'once',
    observed: timesText(others.length + 1),
  }))
}
