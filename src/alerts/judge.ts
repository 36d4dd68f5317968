import type { PhoneRegions } from '../conditions/phone.ts'
import { compileViolation, type Predicate, sharingCompiler } from '../conditions/predicate.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Judge } from '../ingest/understand.ts'
import { type Alert, domainsOf } from './alert.ts'
import { isJudgedAtTheDoor } from './types/data-validation.ts'

interface CompiledRule {
  alertId: string
  /** Empty: all. */
  domains: ReadonlySet<string>
  vendors: ReadonlySet<string>
  isBroken: Predicate
}

/** Rules of one organization, and of them those in scope of a domain and vendor, once somebody has asked. */
interface RuleBook {
  rules: readonly CompiledRule[]
  /** Vendors that some rule names. All others share one entry, because their names come from outside without end. */
  named: ReadonlySet<string>
  byDomain: Map<string, Map<string | null, readonly CompiledRule[]>>
}

const NONE: string[] = []
Object.freeze(NONE)

/**
 * Compiles the validation rules in force to one function, which is to be made anew when a rule changes. An event costs
 * two lookups and the rules in its scope, however many others there are; what these have in common is asked once.
 * The ids are in the order of the alerts; where no rule is broken, they are one and the same empty array.
 * `regionsOf`: the countries whose national phone numbers an organization looks for.
 */
export function compileJudge(alerts: readonly Alert[], regionsOf: (orgId: string) => PhoneRegions = () => []): Judge {
  const books = new Map<string, RuleBook>()
  for (const [orgId, own] of Map.groupBy(alerts.filter(isJudgedAtTheDoor), (alert) => alert.orgId)) {
    books.set(orgId, bookOf(own, regionsOf(orgId)))
  }
  return (event) => {
    const book = books.get(event.orgId)
    return book ? judge(rulesInScope(book, event.domainId, event.vendor), event) : NONE
  }
}

function judge(rules: readonly CompiledRule[], event: StoredEvent): string[] {
  let broken = NONE
  for (const { alertId, isBroken } of rules) {
    if (!isBroken(event)) continue
    if (broken === NONE) broken = [alertId]
    else broken.push(alertId)
  }
  return broken
}

function bookOf(alerts: readonly Alert[], regions: PhoneRegions): RuleBook {
  const compileOne = sharingCompiler(regions)
  const rules = alerts.map((alert) => ({
    alertId: alert.id,
    domains: new Set(domainsOf(alert)),
    vendors: new Set(alert.vendors),
    isBroken: compileViolation(alert, regions, compileOne),
  }))
  return { rules, named: new Set(alerts.flatMap(({ vendors = [] }) => vendors)), byDomain: new Map() }
}

function rulesInScope(book: RuleBook, domainId: string, vendor: string): readonly CompiledRule[] {
  let byVendor = book.byDomain.get(domainId)
  if (!byVendor) {
    byVendor = new Map()
    book.byDomain.set(domainId, byVendor)
  }
  const name = book.named.has(vendor) ? vendor : null
  let rules = byVendor.get(name)
  if (!rules) {
    rules = book.rules.filter(
      ({ domains, vendors }) =>
        (domains.size === 0 || domains.has(domainId)) && (vendors.size === 0 || (name !== null && vendors.has(name))),
    )
    byVendor.set(name, rules)
  }
  return rules
}
