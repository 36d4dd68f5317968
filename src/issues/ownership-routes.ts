import type { AlertChannel } from '../alerts/alert.ts'
import { acceptChannels, showChannels } from '../alerts/encrypt-channel-target.ts'
import { AppError, checkAll } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { decoders } from '../decoders/index.ts'
import { findProject } from '../domains/project-store.ts'
import { hasVendor, requireDomain } from '../domains/store.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, route } from '../http/route.ts'
import { hasLabel } from '../labels/store.ts'
import { isActiveMember } from '../org/member-store.ts'
import type { Db } from '../store/database.ts'
import {
  MAX_RULES,
  type Ownership,
  OwnershipAnswerSchema,
  type OwnershipRule,
  OwnershipSchema,
} from './ownership-rule.ts'
import { ownershipRules, replaceOwnershipRules, type StoredRule } from './ownership-store.ts'

/** Throws an `AppError` naming the field (`channels[2].target: …`) for a channel that can't deliver. */
type CheckChannels = (channels: readonly AlertChannel[], orgId: string) => void

interface OwnershipRouteDeps {
  db: Db
  /** Encrypts channel targets. */
  box: SecretBox
  checkChannels: CheckChannels
}

const tag = 'Issues'
const path = '/v1/org/ownership'

const VENDORS = new Set(decoders.map(({ vendor }) => vendor))

/** Routes for the rules that assign issues. */
export function ownershipRoutes(deps: OwnershipRouteDeps): Route[] {
  return [
    route({
      id: 'getOwnership',
      method: 'GET',
      path,
      access: 'read',
      tag,
      summary: 'Get the rules that assign issues',
      answer: OwnershipAnswerSchema,
      handle: ({ principal }) => describeRules(deps, principal),
    }),
    route({
      id: 'setOwnership',
      method: 'PUT',
      path,
      access: 'administer',
      tag,
      summary: 'Replace the rules that assign issues',
      description:
        'The first rule that an issue matches assigns it when it opens, or reopens unassigned, and the channels of ' +
        'that rule receive its notifications in addition to those of the alert. A rule is deleted together with its ' +
        `domain, project or label. Maximum ${MAX_RULES} rules.`,
      body: OwnershipSchema,
      answer: OwnershipAnswerSchema,
      handle({ principal, body: { rules } }) {
        replaceOwnershipRules(deps.db, principal.orgId, acceptRules(deps, principal.orgId, rules))
        return describeRules(deps, principal)
      },
      target: () => 'ownership',
      note: ({ body: { rules } }) => ({ rules: rules.length }),
    }),
  ]
}

function describeRules({ db, box }: OwnershipRouteDeps, principal: Principal): Ownership {
  const rules = ownershipRules(db, principal.orgId)
  return { rules: rules.map((rule) => ({ ...rule, channels: showChannels(box, rule.channels, principal) })) }
}

/** Returns the rules for storage. Throws `invalid`, naming the fields that do not exist in the organization. */
function acceptRules(
  { db, box, checkChannels }: OwnershipRouteDeps,
  orgId: string,
  rules: readonly OwnershipRule[],
): StoredRule[] {
  const stored = ownershipRules(db, orgId).flatMap(({ channels }) => channels)
  const check = (channels: readonly AlertChannel[]) => checkChannels(channels, orgId)
  const accepted: StoredRule[] = []
  checkAll(
    rules.map(({ match, assigneeId = null, channels = [] }, index) => () => {
      const checks = [...matchChecks(db, orgId, match), () => checkAssignee(db, orgId, assigneeId)]
      try {
        checkAll([
          ...checks,
          () => {
            accepted.push({ match, assigneeId, channels: acceptChannels(box, channels, { stored, check }) })
          },
        ])
      } catch (error) {
        throw error instanceof AppError ? error.at(`rules[${index}].`) : error
      }
    }),
  )
  return accepted
}

function* matchChecks(db: Db, orgId: string, match: OwnershipRule['match']): Iterable<() => void> {
  const { domainId, projectId, vendor, labelId } = match
  if (domainId !== undefined) yield () => named('domainId', () => requireDomain(db, { orgId, id: domainId }))
  if (projectId !== undefined) yield () => named('projectId', () => findProject(db, { orgId, id: projectId }))
  if (labelId !== undefined && !hasLabel(db, { orgId, id: labelId })) yield () => missing('labelId', 'no such label')
  if (vendor !== undefined && !VENDORS.has(vendor) && !hasVendor(db, orgId, vendor)) {
    yield () => missing('vendor', 'no such vendor; use its full name, such as Google Analytics 4')
  }
}

/** Turns `notFound` into `invalid`, because the id is part of the body. */
function named(field: string, find: () => unknown): void {
  try {
    find()
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') missing(field, error.message)
    throw error
  }
}

function missing(field: string, fault: string): never {
  throw new AppError('invalid', `match.${field}: ${fault}`)
}

function checkAssignee(db: Db, orgId: string, assigneeId: string | null): void {
  if (assigneeId === null || isActiveMember(db, { orgId, id: assigneeId })) return
  throw new AppError('invalid', 'assigneeId: is not a member of the organization')
}
