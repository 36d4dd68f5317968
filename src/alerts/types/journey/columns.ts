import type { Condition } from '../../../conditions/condition.ts'
import { filtersSql } from '../../../conditions/sql.ts'
import { type Dialect, isStorable } from '../../../warehouse/dialect.ts'
import type { AnyTest, Binder } from '../../../warehouse/query.ts'
import { domainsOf } from '../../alert.ts'
import { type Ask, keyOf, type Plan } from './plan.ts'

/** An event that belongs to a label; an empty or absent field matches any. */
export interface LabelMember {
  vendor?: string
  event?: string
}
/** The members of a label of the organization; none for a label that does not exist. */
export type MembersOf = (label: string) => readonly LabelMember[]

/** An alert of which sessions are asked for. */
export interface WalkedAlert {
  id: string
  plan: Plan
  domainId?: string
  domainIds?: string[]
  filters?: readonly Condition[]
}

/** What SQL is made of for one alert. */
export interface AlertSql {
  id: string
  /** Whether an event answers anything, and if so what. */
  hit: string
  code: string
  text: string
  /** Of a session, its id where the alert walks it. */
  inScope: string
  /** Aggregate over the events of one sender: false when no session among them can be one that the alert speaks of. */
  matters: string
  /** Whether a session that answers nothing may be at fault. */
  fromStart: boolean
}

/** Gathers the columns that say of each event what it answers, those that alerts share only once. */
export class JourneyColumns {
  /** Boolean expressions by the name of their column. */
  readonly columns = new Map<string, string>()
  readonly askColumns: string[] = []
  readonly filterColumns: string[] = []
  readonly keys = new Set<string>()
  readonly anyTests: AnyTest[] = []
  wholeParams = false
  private readonly known = new Map<string, string>()

  constructor(
    private readonly binder: Binder,
    private readonly membersOf: MembersOf,
  ) {}

  alert(alert: WalkedAlert): AlertSql {
    const { plan, filters = [] } = alert
    const { dialect } = this.binder
    const id = this.binder.bind(alert.id)
    const asks = plan.asks.map((ask) => this.askColumn(ask))
    const domains = this.binder.among('domainId', domainsOf(alert))
    const filter = filters.length > 0 ? [this.filterColumn(filters)] : []
    const chosen = [...domains, ...filter]
    const first = firstAsk(plan)
    const reached = first === null ? [] : [asks[first] ?? NEVER]
    return {
      id,
      hit: [...domains, asks.length > 0 ? `(${asks.join(' OR ')})` : NEVER].join(' AND '),
      code: asks.length > 0 ? codeSql(dialect, asks) : "''",
      text: asks.length > 0 ? shapeSql(dialect, asks) : "''",
      inScope: chosen.length > 0 ? `CASE WHEN ${chosen.join(' AND ')} THEN ${id} END` : id,
      matters: [...domains, ...[...reached, ...filter].map(dialect.anyTrue), ALWAYS].join(' AND '),
      fromStart: first === null,
    }
  }

  /** Nothing where some alert watches every domain. */
  inAnyDomain(alerts: readonly WalkedAlert[]): string[] {
    const lists = alerts.map(domainsOf)
    const union = lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())]
    return this.binder.among('domainId', union)
  }

  private askColumn(ask: Ask): string {
    return this.column(this.askColumns, 'ask', keyOf(ask), () => this.ask(ask))
  }

  private filterColumn(filters: readonly Condition[]): string {
    return this.column(this.filterColumns, 'filter', JSON.stringify(filters), () => this.conditions(filters))
  }

  private column(list: string[], kind: string, key: string, write: () => string): string {
    const known = this.known.get(`${kind} ${key}`)
    if (known !== undefined) return known
    const name = `${kind}${list.push('') - 1}`
    list[list.length - 1] = name
    this.known.set(`${kind} ${key}`, name)
    this.columns.set(name, write())
    return name
  }

  private ask({ page, label, vendor, event, data }: Ask): string {
    const tests = [
      ...(page ? [this.page(page)] : []),
      ...(label === null ? [] : [this.label(label)]),
      ...this.named({ vendor, event }),
      ...(data.length > 0 ? [this.conditions(data)] : []),
    ]
    return `(${tests.join(' AND ')})`
  }

  private page({ op, path }: NonNullable<Ask['page']>): string {
    const text = this.text(path)
    if (text === null) return NEVER
    if (op === 'equals') return `coalesce(path = ${text}, false)`
    const { dialect } = this.binder
    const test = op === 'contains' ? dialect.contains('path', text) : dialect.startsWith('path', text)
    return `coalesce(${test}, false)`
  }

  private label(label: string): string {
    const members = this.membersOf(label).map((member) => this.named(member))
    const tests = members.flatMap((tests) => (tests.length > 0 ? [`(${tests.join(' AND ')})`] : []))
    return tests.length > 0 ? `(${tests.join(' OR ')})` : NEVER
  }

  private named({ vendor, event }: { vendor?: string | null; event?: string | null }): string[] {
    return Object.entries({ vendor, event }).flatMap(([column, value]) => {
      if (!value) return []
      const text = this.text(value)
      return [text === null ? NEVER : `${column} = ${text}`]
    })
  }

  private conditions(conditions: readonly Condition[]): string {
    const { sql, keys, wholeParams } = filtersSql(conditions, this.binder, [], this.anyTests)
    for (const key of keys) this.keys.add(key)
    this.wholeParams ||= wholeParams
    return sql
  }

  /** Null for a text that no event has. */
  private text(text: string): string | null {
    return isStorable(text) ? this.binder.bind(text) : null
  }
}

const NEVER = '(1 = 0)'
const ALWAYS = '(1 = 1)'

/** What a session must show at least that is at fault, or that counts as one that got so far; null: nothing. */
function firstAsk(plan: Plan): number | null {
  return plan.form === 'steps' ? (plan.steps[0]?.anchor ?? null) : (plan.order.at(-1) ?? null)
}

/** The places of the asks that an event answers: `0,2`. */
const codeSql = ({ joined }: Dialect, asks: readonly string[]) =>
  joined(
    ',',
    asks.map((ask, place) => `CASE WHEN ${ask} THEN '${place}' END`),
  )

/** What the list `hits` of a session shows of these asks, as `readShape` reads it. */
function shapeSql(dialect: Dialect, asks: readonly string[]): string {
  const own = (hit: string) => asks.map((ask) => `${hit}.${ask}`)
  return dialect.rowsText(
    'hits',
    (hit) => own(hit).join(' OR '),
    (hit) => `${codeSql(dialect, own(hit))} || '+' || (${hit}.seq - startSeq) || '+' || (${hit}.receivedAt - startAt)`,
    ';',
  )
}
