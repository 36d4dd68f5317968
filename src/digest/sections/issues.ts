import { pagePath } from '../../contract/page-paths.ts'
import { momentText } from '../../core/moment-text.ts'
import { amountText, capitalized } from '../../core/text.ts'
import type { Item, PlainBlock } from '../../mail/mail-document.ts'
import { type DigestFacts, type DigestIssue, SEVERITY_RANK } from '../digest-facts.ts'
import { countOf, moreText, SEVERITY_TONE } from '../format-figures.ts'
import { focusedFirst, focusRank } from '../reader-focus.ts'
import { type DigestSection, type Lead, type SectionContext, WEIGHT } from './section.ts'

const MAX_OPENED = 8
const MAX_OPEN = 5
const MAX_RESOLVED = 5

/** New, resolved and open issues, most severe first. For developers, each issue includes a sample event. */
export const issuesSection: DigestSection = {
  id: 'issues',
  title: 'Issues',
  of: { executive: 'Problems', marketing: 'Problems that may distort your reports' },
  write(facts, reader) {
    const { opened, resolved, open, openedBefore, resolvedBefore } = facts.issues
    if (opened.length + resolved.length + open.length + openedBefore === 0) return null
    const isNew = new Set(opened.map(({ id }) => id))
    const stillOpen = open.filter(({ id }) => !isNew.has(id))
    const blocks: PlainBlock[] = [
      {
        kind: 'text',
        text: `${countsText(facts)} A week earlier: ${openedBefore} opened, ${resolvedBefore} resolved.`,
      },
      ...listOf(
        opened.filter(({ status }) => status !== 'resolved'),
        MAX_OPENED,
        reader,
        (issue) => itemOf(issue, facts, reader, 'New'),
      ),
      ...listOf(stillOpen, MAX_OPEN, reader, (issue) => itemOf(issue, facts, reader, 'Open')),
      ...listOf(resolved, MAX_RESOLVED, reader, (issue) => ({ ...itemOf(issue, facts, reader, 'Resolved'), rows: [] })),
    ]
    return { blocks, lead: leadOf(facts, reader) }
  },
}

function countsText({ issues: { opened, resolved, open } }: DigestFacts): string {
  return `${countOf(opened.length, 'issue')} opened, ${resolved.length} resolved, ${open.length} open now.`
}

function listOf(
  issues: readonly DigestIssue[],
  most: number,
  { focus }: SectionContext,
  item: (issue: DigestIssue) => Item,
): PlainBlock[] {
  if (issues.length === 0) return []
  const items = focusedFirst(issues, focus, (issue) => issue)
    .slice(0, most)
    .map(item)
  return [{ kind: 'items', items, more: moreText(issues.length, items.length) }]
}

function itemOf(
  issue: DigestIssue,
  { currency, timezone }: DigestFacts,
  { audience, publicUrl }: SectionContext,
  word: 'New' | 'Open' | 'Resolved',
): Item {
  const { id, title, severity, domain, occurrences, value, firstSeenAt, summary, sample, status } = issue
  const isResolved = word === 'Resolved'
  const place = domain === null || title.includes(domain) ? [] : [domain]
  const worth = value === null ? [] : [`value ${amountText(value, currency)}`]
  const state = status === 'acknowledged' ? ['acknowledged'] : []
  const note = [...place, occurrences, `since ${momentText(firstSeenAt, timezone)}`, ...worth, ...state].join(' · ')
  const forDeveloper = audience === 'developer'
  return {
    title,
    badge: { text: `${word} · ${severity}`, tone: isResolved ? 'good' : SEVERITY_TONE[severity] },
    note,
    lines: forDeveloper && summary !== '' && !isResolved ? [{ text: capitalized(`${summary}.`), tone: 'plain' }] : [],
    rows: forDeveloper ? sample : [],
    url: publicUrl + pagePath.issue(id),
  }
}

const OPENED_WEIGHT = [WEIGHT.lowIssue, WEIGHT.mediumIssue, WEIGHT.highIssue, WEIGHT.criticalIssue]

function leadOf(
  { issues: { opened, resolved, open }, value, currency }: DigestFacts,
  { focus }: SectionContext,
): Lead | null {
  const unsettled = opened.filter(({ status }) => status === 'open' || status === 'acknowledged')
  const [worst] = unsettled.toSorted(
    (a, b) => focusRank(focus, a) - focusRank(focus, b) || SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity],
  )
  if (worst) {
    const others = unsettled.length - 1
    const more = others > 0 ? ` (and ${countOf(others, 'more new issue', 'more new issues')})` : ''
    return {
      weight: OPENED_WEIGHT[SEVERITY_RANK[worst.severity]] ?? 0,
      text: `New ${worst.severity} issue: ${worst.title}${more}`,
    }
  }
  if (open.length > 0) {
    const worth = value.open > 0 ? `, value ${amountText(value.open, currency)}` : ''
    return { weight: WEIGHT.openValue, text: `${countOf(open.length, 'issue')} still open${worth}` }
  }
  if (resolved.length > 0)
    return { weight: WEIGHT.resolved, text: `${countOf(resolved.length, 'issue')} resolved, none open` }
  return null
}
