import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { oneLine } from '../../message/one-line.ts'
import { Refused, TagManagerApi } from './api.ts'
import type { Context } from './deployments.ts'
import { Progress } from './progress.ts'
import { keepWatch, watched, watchOf } from './records.ts'
import { liveVersionOf } from './workspace.ts'

/** From one look to the next at a container, what the look itself takes included. */
export const WATCH_EVERY_MS = 10 * MINUTE_MS - 30 * SECOND_MS

/** Looks which version of each deployed container is live, and notes a new one as a change of the domain. */
export async function watchContainers(context: Context): Promise<void> {
  const api = new TagManagerApi(context, new Progress())
  const containers = watched(context)
  const refusals: Refused[] = []
  for (const { containerPath } of containers) {
    try {
      await watchContainer(context, api, containerPath)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refusals.push(error)
    }
  }
  // A container that we were taken from says nothing of the others.
  const [first] = refusals
  if (first && refusals.length === containers.length) throw first
}

async function watchContainer(context: Context, api: TagManagerApi, containerPath: string): Promise<void> {
  const live = await liveVersionOf(api, containerPath)
  // As it is now: it may have been deployed meanwhile.
  const watch = watchOf(context, containerPath)
  if (!watch || !live || live.containerVersionId === watch.liveVersion) return
  const { containerVersionId: version, name = '' } = live
  const { domainId, publicId } = watch
  const title = oneLine(name, 200) || `${publicId} version ${version}`
  const ref = `${publicId} ${version}`
  context.noteChange({ domainId, source: 'tag_manager', ref, title, occurredAt: context.now() })
  keepWatch(context, containerPath, { ...watch, liveVersion: version })
}
