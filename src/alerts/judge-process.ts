import { setPriority } from 'node:os'
import type { Subprocess } from 'bun'
import { meterOf, stopwatch } from '../conditions/evaluation-time-limit.ts'
import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { workerEnv } from '../core/child-env.ts'
import type { StoredEvent } from '../core/event.ts'
import { programCommand } from '../core/program-command.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import type { Verdicts } from '../ingest/judging-queue.ts'
import { type AlertRule, OrganizationRules } from './organization-rules.ts'

/** Message to the evaluating process. Rules are sent before the events that they apply to. */
type Request =
  | { kind: 'rule'; orgId: string; id: string; rule: AlertRule | null }
  | { kind: 'judge'; number: number; orgId: string; regions: PhoneRegions; events: readonly StoredEvent[] }

/** The response: for each event, the ids of the alerts whose rules it violates. */
interface Verdict {
  number: number
  violations: Verdicts
}

export interface JudgeProcessDeps {
  /** Reads changed rules and passes them to `changed`. Called before events are evaluated. */
  refresh(): void
  rulesOf(orgId: string): Iterable<AlertRule>
  regionsOf(orgId: string): PhoneRegions
}

/** Nice value of the process, so that other work has priority. */
const NICENESS = 10
/**
 * Time limit for evaluating one event; evaluation stops after at most twice this time. Without a limit, a large event
 * would take hours under the most expensive rules.
 */
const MAX_EVENT_MS = 30_000
/** The process exits after this time without work. */
const IDLE_MS = 10_000

/**
 * Evaluates rules in a separate process, started on demand, so that slow rules do not block the server. The process
 * exits with the server, because the pipe between them closes.
 */
export class JudgeProcess {
  private child: Subprocess | null = null
  /** By organization. Resolves once the organization's rules have been sent to the process. */
  private readonly loaded = new Map<string, Promise<void>>()
  private readonly pending = new Map<number, PromiseWithResolvers<Verdicts>>()
  private number = 0
  private idle: Timer | null = null

  constructor(private readonly parts: JudgeProcessDeps) {}

  /** Returns the verdict on each event. Fails when the process exits before it responds. */
  judge(orgId: string, events: readonly StoredEvent[]): Promise<Verdicts> {
    this.child ??= this.start()
    const { child } = this
    // Changed rules are normally read when events are evaluated on arrival, but events in the late queue are not.
    this.parts.refresh()
    const loaded = this.loaded.get(orgId) ?? this.sendRules(child, orgId)
    this.loaded.set(orgId, loaded)
    const answer = Promise.withResolvers<Verdicts>()
    const number = ++this.number
    this.pending.set(number, answer)
    this.restartIdleTimer()
    const ask = () => {
      if (child === this.child)
        this.send({ kind: 'judge', number, orgId, regions: this.parts.regionsOf(orgId), events })
    }
    loaded.then(ask, answer.reject)
    return answer.promise
  }

  /** To be called when a rule changes. `rule` is null when the rule was deleted. */
  changed(orgId: string, id: string, rule: AlertRule | null): void {
    if (this.loaded.has(orgId)) this.send({ kind: 'rule', orgId, id, rule })
  }

  /** Terminates the process. Pending requests fail. */
  close(): void {
    this.child?.kill('SIGKILL')
    this.onEnd()
  }

  /** Sends the current rules one by one, because the rules of one organization can take hundreds of megabytes. */
  private async sendRules(child: Subprocess, orgId: string): Promise<void> {
    const yielder = new Yielder()
    for (const rule of this.parts.rulesOf(orgId)) {
      child.send({ kind: 'rule', orgId, id: rule.id, rule } satisfies Request)
      if (yielder.isDue) await yielder.yieldNow()
      if (child !== this.child) return
    }
  }

  private send(request: Request): void {
    this.child?.send(request)
  }

  private start(): Subprocess {
    const child = Bun.spawn([...programCommand(), 'judge'], {
      env: workerEnv(),
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (message) => this.onVerdict(message as Verdict),
      onExit: (exited) => {
        if (exited === this.child) this.onEnd()
      },
    })
    child.unref()
    return child
  }

  private onVerdict({ number, violations }: Verdict): void {
    this.pending.get(number)?.resolve(violations)
    this.pending.delete(number)
    this.restartIdleTimer()
  }

  private restartIdleTimer(): void {
    if (this.idle) clearTimeout(this.idle)
    this.idle = this.pending.size === 0 ? setTimeout(() => this.close(), IDLE_MS) : null
    this.idle?.unref()
  }

  private onEnd(): void {
    this.child = null
    this.loaded.clear()
    if (this.idle) clearTimeout(this.idle)
    for (const { reject } of this.pending.values()) reject(new Error('the late-evaluation process exited'))
    this.pending.clear()
  }
}

/** Runs in the child process: responds to requests, and exits when the pipe closes. */
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
  book: OrganizationRules
}

function newOrganization(): Organization {
  const known: Organization = { regions: [], book: new OrganizationRules(() => known.regions) }
  return known
}

async function verdictOf(request: Request & { kind: 'judge' }, known: Organization): Promise<Verdict> {
  known.regions = request.regions
  const violations: (string[] | null)[] = []
  for (const event of request.events) {
    violations.push(known.book.brokenBy(event, meterOf(MAX_EVENT_MS, stopwatch)))
    // Lets requests of other organizations go first, and lets the process detect a closed pipe.
    await new Promise(setImmediate)
  }
  return { number: request.number, violations }
}
