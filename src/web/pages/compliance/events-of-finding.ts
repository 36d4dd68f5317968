import type { ComplianceFinding } from '#client/types.gen'

/** Search params of the Events page for consent findings: the consent parameter of the requests. */
const CONSENT_PARAMS: Readonly<Record<string, string>> = {
  no_signal: 'gcs=',
  not_set: 'gcd',
  no_default: 'gcd',
  granted_by_default: 'gcd',
}

/** Returns the search params of the Events page for the events in which a finding was seen. */
export function eventsOfFinding(
  finding: Pick<ComplianceFinding, 'vendor' | 'key' | 'kind' | 'domainIds' | 'firstSeenAt' | 'lastSeenAt'>,
): Record<string, string | number> {
  const { vendor, domainIds, firstSeenAt, lastSeenAt } = finding
  const param = paramOf(finding)
  const [domainId, ...others] = domainIds
  return {
    vendor,
    ...(domainId !== undefined && others.length === 0 && { domainId }),
    ...(param !== null && { param }),
    from: firstSeenAt,
    to: lastSeenAt + 1,
  }
}

/** Null if the events cannot be searched for by the key: it is masked, or contains the separator of key and value. */
function paramOf({ key, kind }: Pick<ComplianceFinding, 'key' | 'kind'>): string | null {
  if (key === '$consent') return CONSENT_PARAMS[kind] ?? null
  return key.includes('=') || key.includes('***') ? null : key
}
