import type { ComplianceFinding } from '#client/types.gen'
import { Code } from '../../components/data-text.tsx'
import { messages } from '../../messages.ts'

/** The key of consent findings. */
const CONSENT = '$consent'

export const isOfConsent = ({ key }: Pick<ComplianceFinding, 'key'>): boolean => key === CONSENT

/** Looks up own properties only, because a kind or key may have the name of an inherited property. */
const ownEntry = (known: Readonly<Record<string, string>>, name: string): string | null =>
  Object.hasOwn(known, name) ? (known[name] ?? null) : null

/** Name of a kind. */
export const kindOf = (kind: string): string =>
  ownEntry(messages.compliance.kinds, kind) ?? messages.compliance.customPattern(kind)

/** Where personal data was found: `in ep.user`. */
export const Where = ({ name }: { name: string }) => (
  <>
    {messages.compliance.in} {ownEntry(messages.compliance.fields, name) ?? <Code>{name}</Code>}
  </>
)

/** A finding in one line, for the accessible descriptions of its controls. */
export function nameOf(finding: ComplianceFinding): string {
  const where = isOfConsent(finding) ? '' : ` ${messages.compliance.in} ${finding.key}`
  return `${kindOf(finding.kind)}${where}, ${finding.vendor}`
}
