import { isAbout, type Nameable } from '../context.ts'
import type { Cell, Lead } from '../document.ts'
import type { DigestFacts } from '../facts.ts'
import { sumOf } from '../traffic.ts'
import { eventsOf, moveText, moveWords, several } from '../words.ts'
import { type DigestSection, WEIGHT } from './section.ts'
import { countCells } from './traffic.ts'

const KIND: Readonly<Record<Nameable['kind'], string>> = {
  ...{ domain: 'Domain', vendor: 'Vendor', event: 'Event', label: 'Label' },
}

/** What the context names, before everything else: a row for each, and its issues. */
export const focusSection: DigestSection = {
  id: 'focus',
  title: 'What you asked for',
  write(facts, { focus: { named } }) {
    if (named.length === 0) return null
    const rows = named.map((one): Cell[] => [
      { text: one.name, note: [KIND[one.kind], issuesText(one, facts)].filter(Boolean).join(' · ') },
      ...countCells(countOf(one, facts)),
    ])
    const table = { kind: 'table' as const, head: ['Name', '24 h', 'week earlier', 'change'], rows, more: '' }
    return { blocks: [table], lead: leadOf(named, facts) }
  },
}

const countOf = (one: Nameable, { traffic }: DigestFacts) => sumOf(traffic.names.filter((name) => isAbout(one, name)))

function issuesText(one: Nameable, { issues }: DigestFacts): string {
  const open = issues.open.filter((issue) => isAbout(one, issue)).length
  const opened = issues.opened.filter((issue) => isAbout(one, issue)).length
  if (open + opened === 0) return 'no open issue'
  return `${several(open, 'open issue')}, ${opened} new`
}

/** Of the first thing that is named, and says something even where all is as usual: it was asked for. */
function leadOf([first]: readonly Nameable[], facts: DigestFacts): Lead | null {
  if (!first) return null
  const [issue] = facts.issues.opened.filter((one) => one.status !== 'resolved' && isAbout(first, one))
  if (issue) return { weight: WEIGHT.criticalIssue, text: `${first.name}: new ${issue.severity} issue, ${issue.title}` }
  const { now, before } = countOf(first, facts)
  if (now === 0 && !before) return { weight: WEIGHT.usual, text: `${first.name}: no event in 24 hours` }
  const moved = before === null || before === 0 ? moveWords(now, before) : `${moveText(now, before)} to a week earlier`
  return { weight: WEIGHT.usual, text: `${first.name}: ${eventsOf(now)}, ${moved}` }
}
