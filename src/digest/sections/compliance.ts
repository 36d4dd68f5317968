import { CONSENT_KEY } from '../../compliance/compliance-finding.ts'
import type { PlainBlock } from '../../mail/mail-document.ts'
import type { DigestFinding } from '../digest-facts.ts'
import { countOf, eventCount, moreText } from '../format-figures.ts'
import { focusRank } from '../reader-focus.ts'
import { type DigestSection, type Lead, type SectionContext, WEIGHT } from './section.ts'

const MAX_FINDINGS = 5
const MAX_FINDINGS_PRIVACY = 15

/** Personal data sent to vendors and consent violations, new findings first. */
export const complianceSection: DigestSection = {
  id: 'compliance',
  title: 'Compliance',
  of: { privacy: 'Personal data and consent' },
  write({ findings: { seen, fresh }, domainNames, scores }, reader) {
    const isPrivacy = reader.audience === 'privacy'
    if (seen.length === 0 && !isPrivacy) return null
    const score = scores?.parts.find(({ name }) => name === 'compliance')
    const scored = isPrivacy && score ? ` The compliance score is ${score.score} of 100.` : ''
    const intro: PlainBlock = {
      kind: 'text',
      text: `${countOf(seen.length, 'finding')} in the last 24 hours, ${fresh.length} of them new.${scored}`,
    }
    if (seen.length === 0) return { blocks: [intro], lead: null }
    const shown = sorted(seen, fresh, reader).slice(0, isPrivacy ? MAX_FINDINGS_PRIVACY : MAX_FINDINGS)
    const isNew = new Set(fresh)
    const table: PlainBlock = {
      kind: 'table',
      head: ['Finding', 'total values'],
      rows: shown.map((finding) => [
        {
          text: `${isNew.has(finding) ? 'New: ' : ''}${titleOf(finding)}`,
          note: [placesOf(finding, domainNames), finding.example].filter(Boolean).join(' · '),
          ...(isNew.has(finding) ? { tone: 'bad' as const } : {}),
        },
        { text: eventCount(finding.count) },
      ]),
      more: moreText(seen.length, shown.length),
    }
    return { blocks: [intro, table], lead: leadOf(sorted(fresh, fresh, reader)) }
  },
}

function sorted(
  findings: readonly DigestFinding[],
  fresh: readonly DigestFinding[],
  { focus }: SectionContext,
): DigestFinding[] {
  const isNew = new Set(fresh)
  const place = ({ vendor, domainIds }: DigestFinding) =>
    Math.min(...domainIds.map((domainId) => focusRank(focus, { domainId, vendor, event: null })), focus.named.length)
  return findings.toSorted((a, b) => place(a) - place(b) || Number(isNew.has(b)) - Number(isNew.has(a)))
}

const titleOf = (finding: DigestFinding) =>
  finding.key === CONSENT_KEY ? `Consent: ${nameIn(finding)}` : nameIn(finding)

const nameIn = ({ vendor, key, kind }: DigestFinding) =>
  key === CONSENT_KEY ? `${kind.replaceAll('_', ' ')} (${vendor})` : `${kind} in ${key} (${vendor})`

const placesOf = ({ domainIds }: DigestFinding, names: ReadonlyMap<string, string>) =>
  domainIds.flatMap((id) => names.get(id) ?? []).join(', ')

function leadOf([first, ...others]: readonly DigestFinding[]): Lead | null {
  if (!first) return null
  const more = others.length > 0 ? ` (and ${countOf(others.length, 'more new finding', 'more new findings')})` : ''
  const what = first.key === CONSENT_KEY ? 'New consent violation: ' : 'New personal data: '
  return { weight: WEIGHT.newFinding, text: `${what}${nameIn(first)}${more}` }
}
