import { parseTarget } from '../channel-targets.ts'
import { type IssueChannel, memoryOf, saveMemory } from '../context/issue-memory.ts'
import { type ContextDeps, LiveContext, LiveIssueContext, openTarget } from '../context/live-context.ts'
import type { Message } from '../message/message.ts'
import type { Channel } from '../providers/channel.ts'
import type { DeliveryContext, GroupContext, GroupMember } from '../providers/provider-context.ts'
import type { DeliveryRecord } from './delivery.ts'
import { type DeliveryHead, requireMessage } from './group-openings.ts'

/** Provider context of one delivery. */
export class LiveDeliveryContext extends LiveIssueContext implements DeliveryContext {
  readonly deliveryId: string
  readonly isReplay: boolean

  constructor(deps: ContextDeps, channel: Channel, delivery: DeliveryRecord, signal: AbortSignal) {
    const { orgId, issueId, channelType, channelTarget: target } = delivery
    const about = issueId === null ? null : { issueId, channelType, channelTarget: target }
    super(deps, channel, { orgId, channel: about, target }, signal)
    this.deliveryId = delivery.id
    this.isReplay = delivery.deliveredAt !== null
  }
}

/** Provider context of several openings sent in one message. */
export class LiveGroupContext extends LiveContext implements GroupContext {
  readonly detail: string | null
  readonly members: readonly GroupMember[]

  constructor(deps: ContextDeps, channel: Channel, openings: readonly DeliveryHead[], signal: AbortSignal) {
    const [first] = openings
    if (!first) throw new Error('a group must have at least one member')
    const { orgId, channelTarget: target } = first
    const opened = openTarget(deps, channel, { orgId, target })
    super(deps, channel, opened, signal)
    this.detail = parseTarget(target).detail
    const { integrationId } = opened
    this.members = openings.map((opening) => new LiveGroupMember(deps, opening, integrationId))
  }
}

/** A member of a group. Its message is loaded on demand because all messages of a large group may not fit in memory. */
class LiveGroupMember implements GroupMember {
  readonly deliveryId: string
  readonly issueId: string
  readonly isReplay: boolean
  private readonly channel: IssueChannel

  constructor(
    private readonly deps: ContextDeps,
    { id, issueId, channelType, channelTarget, deliveredAt }: DeliveryHead,
    private readonly integrationId: string | null,
  ) {
    if (issueId === null) throw new Error('an opening must belong to an issue')
    this.deliveryId = id
    this.issueId = issueId
    this.isReplay = deliveredAt !== null
    this.channel = { issueId, channelType, channelTarget }
  }

  get message(): Message {
    return requireMessage(this.deps.db, this.deliveryId)
  }

  get memory(): unknown {
    return memoryOf(this.deps.db, this.channel)?.memory ?? null
  }

  async remember(memory: unknown, ticketKey?: string): Promise<void> {
    const { deps, channel, integrationId } = this
    const now = deps.clock.now()
    saveMemory(deps.db, channel, { memory, integrationId, ticketKey: ticketKey ?? null, now })
  }
}
