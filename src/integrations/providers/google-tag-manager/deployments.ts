import { createHash } from 'node:crypto'
import { HOUR_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { ProviderTools } from '../provider.ts'
import type { AccessTokens, InboundContext } from '../provider-context.ts'
import type { Deployed, DeployInput, DeployStatus } from './deploy-schemas.ts'
import { deploy } from './deploy-tag.ts'
import { type DeploymentRecord, deploymentOf, saveDeployment, saveWatch, watchOf } from './deployment-records.ts'
import { NOTHING_DONE, Progress, type Stage } from './progress.ts'
import { TagManagerApi } from './tag-manager-api.ts'
import type { Settings } from './tag-manager-config.ts'
import { refuseWhenBusy, retryAfterS, withWaitLimit } from './wait-limit.ts'

export type Tools = ProviderTools<Settings, unknown, AccessTokens, unknown>
export type Context = InboundContext<Settings, unknown, AccessTokens, unknown>

/** What was done when nobody waited any more is told to whoever asks for the same this soon. */
const UNTOLD_MS = HOUR_MS

interface Work {
  /** SHA-256 of what was asked for. */
  request: string
  /** Written while it goes on. */
  stage: Stage
  done: Promise<Deployed>
}

/** The deployments that are under way: the same one is joined, and goes on when nobody waits. One for each program. */
export class Deployments {
  private readonly underWay = new Map<string, Work>()

  constructor(private readonly tools: Tools) {}

  /**
   * Deploys, or joins who does. Fails with `unavailable` when it takes longer than 50 s: it goes on then. Fails with
   * `conflict` when another deployment into the container is under way.
   */
  async ask(context: Context, input: DeployInput): Promise<Deployed> {
    const { containerPath } = input
    const request = hashOf(input)
    const present = this.underWay.get(placeOf(context, containerPath))
    if (present && present.request !== request) {
      const wait = retryAfterS(present.stage, context)
      throw new AppError('conflict', 'another deployment into this container is under way', wait)
    }
    const untold = present ? null : untoldOf(context, containerPath, request)
    if (untold) return told(context, containerPath, untold)
    const { done, stage } = present ?? this.begin(context, input, request)
    const late = () => {
      const how = `${stage.callsDone} of ${stage.callsTotal} calls are made`
      const what = `the deployment goes on, ${how}: the same request again waits for it`
      return new AppError('unavailable', what, retryAfterS(stage, context))
    }
    return told(context, containerPath, await withWaitLimit(done, { clock: context, left: context.signal, late }))
  }

  /** How far the last deployment into a container is. `context` null: nothing is connected. */
  status(context: Context | null, containerPath: string): DeployStatus {
    const record = context && deploymentOf(context, containerPath)
    if (!record) return { status: 'none', ...NOTHING_DONE, error: null }
    const { status, callsDone, callsTotal, waitsUntil, error } = record
    const isCutOff = status === 'running' && !this.underWay.has(placeOf(context, containerPath))
    if (isCutOff) return { status: 'failed', callsDone, callsTotal, waitsUntil: null, error: CUT_OFF }
    return { status, callsDone, callsTotal, waitsUntil, error }
  }

  private begin(asker: Context, input: DeployInput, request: string): Work {
    const { orgId } = asker
    const place = placeOf(asker, input.containerPath)
    refuseWhenBusy(this.underWay, asker.integrationId)
    const stage = { ...NOTHING_DONE }
    const done = this.tools
      .runInBackground({ orgId, id: asker.integrationId ?? '' }, (context) =>
        this.carryOut(context, input, { request, stage }),
      )
      .finally(() => this.underWay.delete(place))
    const work = { request, stage, done }
    this.underWay.set(place, work)
    // It may fail when nobody waits any more; the record says so.
    done.catch(() => undefined)
    return work
  }

  private async carryOut(
    context: Context,
    input: DeployInput,
    { request, stage }: Omit<Work, 'done'>,
  ): Promise<Deployed> {
    const { containerPath, domainId } = input
    const before = deploymentOf(context, containerPath)
    const isGoneOnWith = before?.request === request && before.status !== 'done'
    const record: DeploymentRecord = {
      ...{ request, status: 'running', ...NOTHING_DONE, made: isGoneOnWith ? before.made : {} },
      ...{ error: null, deployed: null, endedAt: null, isTold: false },
    }
    const keep = (change: Partial<DeploymentRecord>) =>
      saveDeployment(context, containerPath, Object.assign(record, change))
    keep({})
    const progress = new Progress((present) => keep(Object.assign(stage, present)))
    try {
      const { deployed, liveVersion } = await deploy(input, {
        ...{ progress, api: new TagManagerApi(context, progress), made: record.made },
        scriptUrl: this.tools.scriptUrlOf({ orgId: context.orgId, id: domainId }),
        broughtTo: watchOf(context, containerPath)?.broughtTo ?? null,
        keepMade: (made) => keep({ made }),
      })
      this.beginWatch(context, input, liveVersion)
      keep({ status: 'done', deployed, callsTotal: record.callsDone, waitsUntil: null, endedAt: context.now() })
      return deployed
    } catch (error) {
      // A stop is no failure: what is asked again goes on.
      if (!context.signal.aborted) {
        keep({ status: 'failed', error: wordsOf(context.refusal(error)), waitsUntil: null, endedAt: context.now() })
      }
      throw error
    }
  }

  private beginWatch(context: Context, input: DeployInput, broughtTo: string | null): void {
    const { containerPath, domainId, container } = input
    const present = watchOf(context, containerPath)
    const liveVersion = present ? present.liveVersion : broughtTo
    saveWatch(context, containerPath, { domainId, publicId: container.publicId, liveVersion, broughtTo })
  }
}

const CUT_OFF = 'the server was stopped before it was done; the same request again goes on with it'

const wordsOf = (error: Error): string =>
  error instanceof AppError ? error.message : 'it failed; the log of the server says more'

const placeOf = ({ integrationId }: Context, containerPath: string) => `${integrationId} ${containerPath}`

const hashOf = (input: DeployInput): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(input)))
    .digest('hex')

/** The same request with its fields in another order is the same. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** What the last deployment of the same came to, where nobody was told yet. */
function untoldOf(context: Context, containerPath: string, request: string): Deployed | null {
  const record = deploymentOf(context, containerPath)
  if (record?.status !== 'done' || record.isTold || record.request !== request) return null
  return context.now() - (record.endedAt ?? 0) < UNTOLD_MS ? record.deployed : null
}

function told(context: Context, containerPath: string, deployed: Deployed): Deployed {
  const record = deploymentOf(context, containerPath)
  if (record?.status === 'done' && !record.isTold) saveDeployment(context, containerPath, { ...record, isTold: true })
  return deployed
}
