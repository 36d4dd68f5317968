import type { ManagedItem } from '../managed/managed-item.ts'
import { type CallApi, RejectedCall } from './api-client.ts'
import { type DesiredItem, describeRejection, withoutStored } from './desired.ts'
import type { Organization } from './organization.ts'
import type { Plan } from './plan.ts'
import type { Section } from './section.ts'
import { SECTIONS } from './sections.ts'
import { type Fields, type Referred, toApi } from './shape.ts'

/** Maximum number of marks in a call. */
const MARKS_PER_CALL = 1000

/** A step that the server rejected. Earlier steps have been carried out. */
export class FailedStep extends Error {
  override readonly name = 'FailedStep'
}

/** Carries out plans. */
export interface ApplyDeps {
  call: CallApi
  organization: Organization
  /** Called after each step, with what was done: `created alert purchase`. */
  done(step: string): void
}

/**
 * Carries out a plan. With `prune`, missing items are deleted. Rejects with `FailedStep` when the server rejects a step;
 * applying the same files again then does the rest.
 */
export async function applyPlan(plan: Plan, { call, organization, done }: ApplyDeps, prune: boolean): Promise<void> {
  const ids = idLookup(organization)
  const order = [...plan.creates, ...plan.updates.map(({ item }) => item)]
  for (const { item, present } of [...plan.adopts, ...plan.updates]) ids.set(item, present.id)
  const updated = new Map(plan.updates.map(({ item, present }) => [item, present]))
  for (const item of inSectionOrder(order)) {
    const { section, key } = item
    const present = updated.get(item)
    await step(item, async () => {
      const fields = toApi(section.shape, withoutStored(sentFields(item)), ids)
      const id = present ? present.id : await section.create(call, fields)
      ids.set(item, id)
      if (present) await section.update(call, id, fields)
      if (!present || present.file !== item.file.name || present.key !== key) await mark(call, [markOf(item, id)])
    })
    done(`${present ? 'updated' : 'created'} ${nameOf(section, key)}`)
  }
  const marks = plan.adopts.map(({ item, present }) => markOf(item, present.id))
  for (let from = 0; from < marks.length; from += MARKS_PER_CALL) {
    await mark(call, marks.slice(from, from + MARKS_PER_CALL))
  }
  if (!prune) return
  for (const { section, present } of plan.missing) {
    try {
      await section.remove(call, present.id)
      await call('POST', '/v1/org/managed', { released: [present.id] })
    } catch (error) {
      if (!(error instanceof RejectedCall)) throw error
      throw new FailedStep(`${nameOf(section, present.key)} could not be deleted: ${error.message}`)
    }
    done(`deleted ${nameOf(section, present.key)}`)
  }
}

const nameOf = ({ noun, isSingle }: Section, key: string) => (isSingle ? noun : `${noun} ${key}`)

const mark = (call: CallApi, items: ManagedItem[]) => call('POST', '/v1/org/managed', { items })

const markOf = ({ key, file }: DesiredItem, id: string): ManagedItem => ({ id, key, file: file.name })

/** Returns what is sent: secrets of a flow test that the server keeps are null, because absent ones are deleted. */
function sentFields({ section, filled }: DesiredItem): Fields {
  const { secrets } = filled
  if (section.secrets?.field !== 'secrets' || typeof secrets !== 'object') return filled
  const sent = Object.entries(secrets as Fields).map(([name, value]) => [
    name,
    typeof value === 'symbol' ? null : value,
  ])
  return { ...filled, secrets: Object.fromEntries(sent) }
}

function inSectionOrder(items: readonly DesiredItem[]): DesiredItem[] {
  return SECTIONS.flatMap((section) => items.filter((item) => item.section === section))
}

/** Ids by section and key, of items that exist and of those that are created meanwhile. */
function idLookup({ items, members }: Organization) {
  const created = new Map<string, string>()
  return {
    set: ({ section, key }: DesiredItem, id: string) => void created.set(`${section.name} ${key}`, id),
    idOf(to: Referred, key: string): string {
      if (to === 'members') return members.get(key.toLowerCase()) ?? key
      return created.get(`${to} ${key}`) ?? items.get(to)?.get(key)?.id ?? key
    },
  }
}

async function step(item: DesiredItem, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof RejectedCall)) throw error
    throw new FailedStep(describeRejection(item, error.message))
  }
}
