import { MAX_RULE_COST } from '../conditions/condition.ts'
import type { StoredEvent } from '../core/event.ts'
import { type Alert, domainsOf } from './alert.ts'

/** Maximum cost, as `costOf`, of all rules of an organization that are judged on arrival. */
export const MAX_ARRIVAL_COST = 200_000

interface LateRule {
  cost: number
  domainIds: ReadonlySet<string>
  vendors: ReadonlySet<string>
}

/**
 * The rules of one organization that cost too much to be compiled and judged on arrival. Events that they apply to are
 * judged by the process for late batches.
 */
export class LateRules {
  private readonly late = new Map<string, LateRule>()
  private readonly onArrival = new Map<string, number>()
  private arrivalCost = 0

  /** Adds or replaces a rule. Returns true when it is judged late. */
  set(alert: Pick<Alert, 'id' | 'domainId' | 'domainIds' | 'vendors'>, cost: number): boolean {
    this.delete(alert.id)
    if (cost <= MAX_RULE_COST && this.arrivalCost + cost <= MAX_ARRIVAL_COST) {
      this.onArrival.set(alert.id, cost)
      this.arrivalCost += cost
      return false
    }
    const [domainIds, vendors] = [new Set(domainsOf(alert)), new Set(alert.vendors)]
    this.late.set(alert.id, { cost, domainIds, vendors })
    return true
  }

  delete(id: string): void {
    this.late.delete(id)
    this.arrivalCost -= this.onArrival.get(id) ?? 0
    this.onArrival.delete(id)
  }

  /** True when one of the rules may apply to the event. */
  concern({ domainId, vendor }: Pick<StoredEvent, 'domainId' | 'vendor'>): boolean {
    if (this.late.size === 0) return false
    const has = (set: ReadonlySet<string>, value: string) => set.size === 0 || set.has(value)
    return this.late.values().some(({ domainIds, vendors }) => has(domainIds, domainId) && has(vendors, vendor))
  }

  /** Returns the part of the organization's whole cost that a late rule causes, 0 to 1; null for other rules. */
  shareOf(id: string): number | null {
    const rule = this.late.get(id)
    if (!rule) return null
    return rule.cost / this.late.values().reduce((sum, { cost }) => sum + cost, this.arrivalCost)
  }
}
