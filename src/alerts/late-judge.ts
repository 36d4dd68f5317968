import { existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { meterOf, stopwatch } from '../conditions/meter.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Verdicts } from '../ingest/late-batches.ts'
import { type AlertRule, RuleBook } from './rule-book.ts'

/** To the process that judges. Rules come before the events that are judged by them. */
type Request =
  | { kind: 'rule'; orgId: string; id: string; rule: AlertRule | null }
  | { kind: 'judge'; number: number; orgId: string; regions: PhoneRegions; events: readonly StoredEvent[] }

/** From it: for each event, the ids of the alerts that it breaks. */
interface Verdict {
  number: number
  violations: Verdicts
}

export interface LateJudgeParts {
  /** To be called before events are judged: tells of the rules that changed. */
  refresh(): void
  rulesOf(orgId: string): readonly AlertRule[]
  regionsOf(orgId: string): PhoneRegions
}

/** Behind everything else that the machine has to do. */
const NICENESS = 10
/** An event may take so long, and at worst as much again; a large one under the dearest rules would take hours. */
const MAX_EVENT_MS = 30_000
/** A process that had nothing to do for so long ends. */
const IDLE_MS = 10_000

/**
 * Judges in a process of its own, started when it is needed, so that rules that take long hold up nobody. It dies with this
 * process, because the pipe between them ends.
 */
export class LateJudge {
  private child: Subprocess | null = null
  private readonly told = new Set<string>()
  private readonly asked = new Map<number, PromiseWithResolvers<Verdicts>>()
  private number = 0
  private idle: Timer | null = null

  constructor(private readonly parts: LateJudgeParts) {}

  /** The verdict on each event. Fails when the process ends before it has answered. */
  judge(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts> {
    this.child ??= this.start()
    // Events that wait are not judged at the door, which would ask for changes.
    this.parts.refresh()
    if (!this.told.has(orgId)) this.tell(orgId)
    const answer = Promise.withResolvers<Verdicts>()
    const number = ++this.number
    this.asked.set(number, answer)
    this.busyPoll()
    this.send({ kind: 'judge', number, orgId, regions: this.parts.regionsOf(orgId), events })
    return answer.promise
  }

  /** To be called when a rule changes; null when it is gone. */
  changed(orgId: string, id: string, rule: AlertRule | null): void {
    if (this.told.has(orgId)) this.send({ kind: 'rule', orgId, id, rule })
  }

  /** Ends the process; what it was asked fails. */
  close(): void {
    this.child?.kill('SIGKILL')
    this.ended()
  }

  private tell(orgId: string): void {
    this.told.add(orgId)
    for (const rule of this.parts.rulesOf(orgId)) this.send({ kind: 'rule', orgId, id: rule.id, rule })
  }

  private send(request: Request): void {
    this.child?.send(request)
  }

  private start(): Subprocess {
    const child = Bun.spawn([...ownCommand(), 'judge'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (message) => this.received(message as Verdict),
      onExit: (ended) => {
        if (ended === this.child) this.ended()
      },
    })
    child.unref()
    return child
  }

  private received({ number, violations }: Verdict): void {
    this.asked.get(number)?.resolve(violations)
    this.asked.delete(number)
    this.busyPoll()
  }

  private busyPoll(): void {
    if (this.idle) clearTimeout(this.idle)
    this.idle = this.asked.size === 0 ? setTimeout(() => this.close(), IDLE_MS) : null
    this.idle?.unref()
  }

  private ended(): void {
    this.child = null
    this.told.clear()
    if (this.idle) clearTimeout(this.idle)
    for (const { reject } of this.asked.values()) reject(new Error('the process that judges late batches ended'))
    this.asked.clear()
  }
}

/** How this program is started: the executable itself, or from its sources. */
function ownCommand(): string[] {
  const main = join(import.meta.dir, '../main.ts')
  return existsSync(main) ? [process.execPath, '--no-env-file', main] : [process.execPath]
}

/** The other end: answers what it is asked, and ends the process with the pipe. */
export function judgeForParent(): Promise<never> {
  setPriority(NICENESS)
  const organizations = new Map<string, Organization>()
  process.on('message', (request: Request) => {
    const known = organizations.get(request.orgId) ?? newOrganization()
    organizations.set(request.orgId, known)
    if (request.kind === 'judge') verdictOf(request, known).then((verdict) => process.send?.(verdict))
    else if (request.rule) known.book.set(request.rule)
    else known.book.delete(request.id)
  })
  process.once('disconnect', () => process.exit())
  return new Promise(() => {})
}

interface Organization {
  regions: PhoneRegions
  book: RuleBook
}

function newOrganization(): Organization {
  const known: Organization = { regions: [], book: new RuleBook(() => known.regions) }
  return known
}

async function verdictOf(request: Request & { kind: 'judge' }, known: Organization): Promise<Verdict> {
  known.regions = request.regions
  const violations: (string[] | null)[] = []
  for (const event of request.events) {
    violations.push(known.book.brokenBy(event, meterOf(MAX_EVENT_MS, stopwatch)))
    // Other organizations' events have their turn, and the end of the pipe is noticed.
    await new Promise(setImmediate)
  }
  return { number: request.number, violations }
}
