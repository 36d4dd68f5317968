import type { IssueDetail, IssueEvidence } from '#client/types.gen'
import { formatMomentInZone, formatNumber } from '../../../components/format.ts'
import { diffOf } from '../../../components/param-diff.ts'
import { messages } from '../../../messages.ts'

/** Escapes Markdown characters. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~]/g, '\\$&')

/** Inline code, fenced by as many backticks as the text requires. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = text === '' || text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${text.replace(/\s+/g, ' ').replaceAll('|', '\\|')}${pad}${fence}`
}

interface MarkdownContext {
  /** URL of the issue. */
  link: string
  /** Time zone in which times are written. */
  timeZone: string
}

/** An issue as Markdown for a ticket or chat: summary, details, evidence and link. */
export function markdownOf(
  issue: IssueDetail,
  evidence: IssueEvidence | undefined,
  { link, timeZone }: MarkdownContext,
): string {
  const { issue: w, issues, displayNames } = messages
  const facts: [string, string | null][] = [
    [issues.severity, displayNames.severities[issue.severity]],
    [issues.status, displayNames.statuses[issue.status]],
    [w.detail.domain, issue.domain && plain(issue.domain)],
    [w.detail.hosts, issue.hosts?.map(code).join(', ') || null],
    [w.detail.occurrences, formatNumber(issue.occurrences)],
    [w.detail.first, formatMomentInZone(issue.firstSeenAt, timeZone)],
    [w.detail.last, formatMomentInZone(issue.lastSeenAt, timeZone)],
    [w.likelyCause.replace(/:$/, ''), evidence?.changes[0] ? plain(evidence.changes[0].title) : null],
    [w.note, issue.notes && plain(issue.notes)],
  ]
  const lines = facts.flatMap(([name, value]) => (value ? [`- ${name}: ${value}`] : []))
  const summary = evidence ? [plain(evidence.summary), ''] : []
  return [`## ${plain(issue.title)}`, '', ...summary, ...lines, '', ...comparisonOf(evidence), link, ''].join('\n')
}

function comparisonOf(evidence: IssueEvidence | undefined): string[] {
  const { badSample: bad, goodSample: good } = evidence ?? {}
  if (!bad) return []
  const { issue: w, components } = messages
  const rows = diffOf(bad.params, good?.params ?? null).filter(({ differs }) => differs)
  const value = (text: string | null) =>
    text === null ? components.notSent : text.trim() === '' ? components.blank : code(text)
  const head = good
    ? `| ${components.parameter} | ${w.violatingEvent} | ${w.validEvent} |`
    : `| ${components.parameter} | ${w.violatingEvent} |`
  return [
    head,
    good ? '|---|---|---|' : '|---|---|',
    ...rows.map(({ key, left, right }) => `| ${code(key)} | ${value(left)} |${good ? ` ${value(right)} |` : ''}`),
    '',
  ]
}
