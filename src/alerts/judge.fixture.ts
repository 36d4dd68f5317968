import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { NO_RULES } from '../conditions/rule-set.ts'
import type { Judge } from '../ingest/decode-batch.ts'
import type { Alert } from './alert.ts'
import { OrganizationRules } from './organization-rules.ts'

/** Evaluates events against the rules of these alerts, without a database. */
export function judgeOf(alerts: readonly Alert[], regionsOf: (orgId: string) => PhoneRegions = () => []): Judge {
  const books = new Map<string, OrganizationRules>()
  for (const alert of alerts) {
    const book = books.get(alert.orgId) ?? new OrganizationRules(() => regionsOf(alert.orgId))
    books.set(alert.orgId, book)
    book.set(alert)
  }
  return (event) => books.get(event.orgId)?.brokenBy(event) ?? NO_RULES
}
