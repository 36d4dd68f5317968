import { createHash } from 'node:crypto'
import { HOUR_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { ProviderTools } from '../integrations/providers/connector.ts'
import type { AccessTokens, InboundContext } from '../integrations/providers/provider-context.ts'
import type { Deployed, DeployInput, DeployStatus } from './deploy-schemas.ts'
import { deploy } from './deploy-tag.ts'
import { type DeploymentRecord, deploymentOf, saveDeployment, saveWatch, watchOf } from './deployment-records.ts'
import { NO_PROGRESS, Progress, type Stage } from './progress.ts'
import { TagManagerApi } from './tag-manager-api.ts'
import type { Settings } from './tag-manager-config.ts'
import { refuseWhenBusy, retryAfterS, withWaitLimit } from './wait-limit.ts'

export type Tools = ProviderTools<Settings, unknown, AccessTokens, unknown>
export type Context = InboundContext<Settings, unknown, AccessTokens, unknown>

/** Time for which a result that no caller has received can still be returned to an identical request. */
const UNREPORTED_MS = HOUR_MS

interface RunningDeployment {
  /** SHA-256 of the request. */
  request: string
  /** Progress, updated during the deployment. */
  stage: Stage
  done: Promise<Deployed>
}

/**
 * Running deployments. An identical request joins the running deployment. A deployment continues even if all its
 * callers disconnect.
 */
export class Deployments {
  private readonly running = new Map<string, RunningDeployment>()

  constructor(private readonly tools: Tools) {}

  /**
   * Starts a deployment, or joins an identical one that is running. Fails with `unavailable` after 50 s, while the
   * deployment continues. Fails with `conflict` if a different deployment into the container is running.
   */
  async deploy(context: Context, input: DeployInput): Promise<Deployed> {
    const { containerPath } = input
    const request = hashOf(input)
    const current = this.running.get(keyOf(context, containerPath))
    if (current && current.request !== request) {
      const wait = retryAfterS(current.stage, context)
      throw new AppError('conflict', 'another deployment into this container is in progress', wait)
    }
    const unreported = current ? null : unreportedResult(context, containerPath, request)
    if (unreported) return markReported(context, containerPath, unreported)
    const { done, stage } = current ?? this.start(context, input, request)
    const late = () => {
      const progress = `${stage.callsDone} of ${stage.callsTotal} calls done`
      const text = `the deployment is still running (${progress}); repeat the same request to wait for it`
      return new AppError('unavailable', text, retryAfterS(stage, context))
    }
    return markReported(
      context,
      containerPath,
      await withWaitLimit(done, { clock: context, left: context.signal, late }),
    )
  }

  /**
   * Returns the status of the most recent deployment into a container. `context` is null if no integration is
   * connected.
   */
  status(context: Context | null, containerPath: string): DeployStatus {
    const record = context && deploymentOf(context, containerPath)
    if (!record) return { status: 'none', ...NO_PROGRESS, error: null }
    const { status, callsDone, callsTotal, waitsUntil, error } = record
    const isInterrupted = status === 'running' && !this.running.has(keyOf(context, containerPath))
    if (isInterrupted) return { status: 'failed', callsDone, callsTotal, waitsUntil: null, error: INTERRUPTED }
    return { status, callsDone, callsTotal, waitsUntil, error }
  }

  private start(caller: Context, input: DeployInput, request: string): RunningDeployment {
    const { orgId } = caller
    const key = keyOf(caller, input.containerPath)
    refuseWhenBusy(this.running, caller.integrationId)
    const stage = { ...NO_PROGRESS }
    const done = this.tools
      .runInBackground({ orgId, id: caller.integrationId ?? '' }, (context) =>
        this.run(context, input, { request, stage }),
      )
      .finally(() => this.running.delete(key))
    const work = { request, stage, done }
    this.running.set(key, work)
    // Avoids an unhandled rejection when no caller is waiting. The record contains the error.
    done.catch(() => undefined)
    return work
  }

  private async run(
    context: Context,
    input: DeployInput,
    { request, stage }: Omit<RunningDeployment, 'done'>,
  ): Promise<Deployed> {
    const { containerPath, domainId } = input
    const previous = deploymentOf(context, containerPath)
    const isResumed = previous?.request === request && previous.status !== 'done'
    const record: DeploymentRecord = {
      ...NO_PROGRESS,
      request,
      status: 'running',
      made: isResumed ? previous.made : {},
      error: null,
      deployed: null,
      endedAt: null,
      isTold: false,
    }
    const save = (change: Partial<DeploymentRecord>) =>
      saveDeployment(context, containerPath, Object.assign(record, change))
    save({})
    const progress = new Progress((current) => save(Object.assign(stage, current)))
    try {
      const { deployed, liveVersion } = await deploy(input, {
        progress,
        api: new TagManagerApi(context, progress),
        made: record.made,
        scriptUrl: this.tools.scriptUrlOf({ orgId: context.orgId, id: domainId }),
        broughtTo: watchOf(context, containerPath)?.broughtTo ?? null,
        saveMade: (made) => save({ made }),
      })
      this.startWatch(context, input, liveVersion)
      save({ status: 'done', deployed, callsTotal: record.callsDone, waitsUntil: null, endedAt: context.now() })
      return deployed
    } catch (error) {
      // A shutdown does not count as a failure: a repeated request resumes the deployment.
      if (!context.signal.aborted) {
        save({
          status: 'failed',
          error: publicMessage(context.refusal(error)),
          waitsUntil: null,
          endedAt: context.now(),
        })
      }
      throw error
    }
  }

  private startWatch(context: Context, input: DeployInput, broughtTo: string | null): void {
    const { containerPath, domainId, container } = input
    const current = watchOf(context, containerPath)
    const liveVersion = current ? current.liveVersion : broughtTo
    saveWatch(context, containerPath, { domainId, publicId: container.publicId, liveVersion, broughtTo })
  }
}

const INTERRUPTED = 'the server was stopped during the deployment; repeat the same request to resume it'

const publicMessage = (error: Error): string =>
  error instanceof AppError ? error.message : 'internal error; see the server log'

const keyOf = ({ integrationId }: Context, containerPath: string) => `${integrationId} ${containerPath}`

const hashOf = (input: DeployInput): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(input)))
    .digest('hex')

/** Sorts fields so that their order does not affect the hash. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** Result of the most recent deployment if the request is identical and no caller has received the result yet. */
function unreportedResult(context: Context, containerPath: string, request: string): Deployed | null {
  const record = deploymentOf(context, containerPath)
  if (record?.status !== 'done' || record.isTold || record.request !== request) return null
  return context.now() - (record.endedAt ?? 0) < UNREPORTED_MS ? record.deployed : null
}

function markReported(context: Context, containerPath: string, deployed: Deployed): Deployed {
  const record = deploymentOf(context, containerPath)
  if (record?.status === 'done' && !record.isTold) saveDeployment(context, containerPath, { ...record, isTold: true })
  return deployed
}
