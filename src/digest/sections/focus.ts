import type { Cell } from '../../mail/mail-document.ts'
import type { DigestFacts } from '../digest-facts.ts'
import { isNotable, type Sum, sumOf } from '../event-traffic.ts'
import { comparisonText, countOf, eventsOf } from '../format-figures.ts'
import { matches, type Nameable } from '../reader-focus.ts'
import { type DigestSection, type Lead, WEIGHT } from './section.ts'
import { countCells } from './traffic.ts'

const KIND: Readonly<Record<Nameable['kind'], string>> = {
  domain: 'Domain',
  vendor: 'Vendor',
  event: 'Event',
  label: 'Label',
}

/** The names in the recipient's context, with the traffic and issues of each name. The first section of the digest. */
export const focusSection: DigestSection = {
  id: 'focus',
  title: 'Your topics',
  write(facts, { focus: { named } }) {
    if (named.length === 0) return null
    const rows = named.map((one): Cell[] => [
      { text: one.name, note: [KIND[one.kind], issuesText(one, facts)].filter(Boolean).join(' · ') },
      ...countCells(trafficFor(one, facts)),
    ])
    const table = { kind: 'table' as const, head: ['Name', '24 h', 'a week earlier', 'change'], rows, more: '' }
    return { blocks: [table], lead: leadOf(named, facts) }
  },
}

const trafficFor = (one: Nameable, { traffic }: DigestFacts) =>
  sumOf(traffic.names.filter((name) => matches(one, name)))

function issuesText(one: Nameable, { issues }: DigestFacts): string {
  const open = issues.open.filter((issue) => matches(one, issue)).length
  const opened = issues.opened.filter((issue) => matches(one, issue)).length
  if (open + opened === 0) return 'no open issues'
  return `${countOf(open, 'open issue')}, ${opened} new`
}

/**
 * Returns the lead for the first name with a new issue, otherwise for the first with a notable change, otherwise for
 * the first name. The recipient asked for these names, so there is a lead even without activity.
 */
function leadOf(named: readonly Nameable[], facts: DigestFacts): Lead | null {
  const opened = facts.issues.opened.filter(({ status }) => status === 'open' || status === 'acknowledged')
  for (const one of named) {
    const [issue] = opened.filter((about) => matches(one, about))
    if (issue) return { weight: WEIGHT.criticalIssue, text: `${one.name}: new ${issue.severity} issue, ${issue.title}` }
  }
  const counts = named.map((one) => ({ one, sum: trafficFor(one, facts) }))
  const [first] = [...counts.filter(({ sum }) => isNotable(sum.now, sum.before)), ...counts]
  return first ? { weight: weightOf(first.sum), text: `${first.one.name}: ${countText(first.sum)}` } : null
}

function weightOf({ now, before }: Sum): number {
  if (!isNotable(now, before)) return WEIGHT.usual
  return now < (before ?? 0) ? WEIGHT.trafficFell : WEIGHT.trafficRose
}

function countText({ now, before }: Sum): string {
  if (now === 0 && !before) return 'no events in 24 hours'
  return `${eventsOf(now)}, ${comparisonText(now, before)}`
}
