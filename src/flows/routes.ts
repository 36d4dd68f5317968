import type { AlertChannel } from '../alerts/alert.ts'
import { acceptChannels, showChannels } from '../alerts/encrypt-channel-target.ts'
import type { CheckAddress } from '../browser/check-browser-url.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Nullable, Text, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { hasDomain } from '../domains/store.ts'
import { ComparedSecretsSchema, compareSecrets, SecretComparisonSchema } from '../http/compare-secrets.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { FLOW_BODY_BYTES, type FlowTest, type FlowTestInput, FlowTestInputSchema, FlowTestSchema } from './flow-test.ts'
import { checkAddresses, checkNames, type FlowTestSettings, readFlowTest } from './read-flow-test-input.ts'
import { withStartUrl } from './recorder-export.ts'
import { RunSchema } from './run-schema.ts'
import { requireRunReach } from './run-secrets.ts'
import { factsOf, queueRun, shownRun } from './run-store.ts'
import { decideHealing } from './step-healing.ts'
import {
  createFlowTest,
  deleteFlowTest,
  findFlowTest,
  listFlowTests,
  openSecrets,
  sealed,
  storedFlowTest,
  updateFlowTest,
} from './store.ts'

export interface FlowTestDeps {
  db: Db
  box: SecretBox
  clock: Clock
  /** Value of `TAGWARDEN_REGION`. */
  region: string
  /** Returns why no browser can run and how to fix it; null when browsers can run. */
  fault(): string | null
  checkAddress: CheckAddress
  /** Throws an `AppError` that names the channel (`channels[2].target: …`) when a channel can't deliver messages. */
  checkChannels(channels: readonly AlertChannel[], orgId: string): void
  /** Starts queued runs. */
  start(): void
  /**
   * Called inside the transaction that deletes a test, to resolve its issues. `by` is the id of the user who deletes
   * the test.
   */
  deleted(test: FlowTest, by: string): void
  /** Stops the runs of a deleted test. */
  cancel(testId: string): void
}

const tag = 'Flow tests'
const FlowTestList = Closed(
  { tests: Type.Array(FlowTestSchema), nextCursor: NextCursorSchema },
  { $id: 'FlowTestList' },
)

const RunInputSchema = Closed(
  {
    startUrl: Type.Optional(
      Nullable(
        Text(1, 2000, { description: 'Replaces the test’s start page, for example with a preview of a release' }),
      ),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Text(0, 2000), {
        description: 'Values by name that override the test’s variables for this run',
      }),
    ),
    secrets: Type.Optional(
      Type.Record(Type.String(), Text(0, 2000), {
        description:
          'Values by name that override the test’s secrets, for this run only. Required when the start page is on a host to which the test’s secrets are not bound',
      }),
    ),
  },
  { $id: 'FlowRunInput', examples: [{ startUrl: 'https://preview.shop.example/' }] },
)

const HealingInputSchema = Closed(
  {
    step: Int({ minimum: 0, maximum: 199, description: 'Index in `recording.steps`' }),
    approve: Type.Boolean({
      description: 'True: use this selector from now on. False: a step that finds its element this way fails',
    }),
  },
  { $id: 'HealingInput', examples: [{ step: 1, approve: true }] },
)

/** Returns the routes under `/v1/flows/tests`. */
export function flowTestRoutes(parts: FlowTestDeps): Route[] {
  return [...readingRoutes(parts), ...writingRoutes(parts), runRoute(parts), healingRoute(parts)]
}

/**
 * Returns the test in the form in which the caller may see it. Channel targets are masked for viewers and read-only
 * keys.
 */
function describe({ box }: Pick<FlowTestDeps, 'box'>, test: FlowTest, principal: Principal) {
  return { ...test, channels: showChannels(box, test.channels, principal) }
}

function readingRoutes(parts: FlowTestDeps): Route[] {
  const { db } = parts
  return [
    route({
      id: 'listFlowTests',
      method: 'GET',
      path: '/v1/flows/tests',
      access: 'read',
      tag,
      summary: 'List flow tests, oldest first',
      description: 'Channel targets are masked for viewers and read-only keys.',
      tool: true,
      query: Closed(pagingFields),
      answer: FlowTestList,
      exports: 'tests',
      handle({ principal, query }) {
        const { items, nextCursor } = listFlowTests(db, principal.orgId, query)
        return { tests: items.map((test) => describe(parts, test, principal)), nextCursor }
      },
    }),
    route({
      id: 'getFlowTest',
      method: 'GET',
      path: '/v1/flows/tests/{id}',
      access: 'read',
      tag,
      summary: 'Get a flow test',
      description: 'Channel targets are masked for viewers and read-only keys.',
      tool: true,
      params: ById,
      answer: FlowTestSchema,
      handle: ({ principal, params: { id } }) =>
        describe(parts, findFlowTest(db, { orgId: principal.orgId, id }), principal),
    }),
  ]
}

function writingRoutes(parts: FlowTestDeps): Route[] {
  const { db, box, clock, checkAddress, checkChannels, deleted, cancel } = parts
  const accept = (input: FlowTestInput, orgId: string, stored: readonly AlertChannel[] = []): FlowTestSettings => {
    const settings = readFlowTest(input, clock.now())
    checkAddresses(settings, checkAddress)
    if (settings.domainId !== null && !hasDomain(db, { orgId, id: settings.domainId })) {
      throw new AppError('invalid', 'domainId: no such domain')
    }
    const check = (channels: readonly AlertChannel[]) => checkChannels(channels, orgId)
    return { ...settings, channels: acceptChannels(box, settings.channels, { stored, check }) }
  }
  return [
    route({
      id: 'createFlowTest',
      method: 'POST',
      path: '/v1/flows/tests',
      access: 'edit',
      tag,
      summary: 'Create a flow test from a recording made with Chrome’s Recorder',
      refusals: ['conflict'],
      maxBodyBytes: FLOW_BODY_BYTES,
      body: FlowTestInputSchema,
      status: 201,
      answer: FlowTestSchema,
      handle({ principal, body }) {
        const settings = accept(body, principal.orgId)
        return describe(parts, createFlowTest(parts, principal.orgId, settings, body.secrets ?? {}), principal)
      },
    }),
    route({
      id: 'replaceFlowTest',
      method: 'PUT',
      path: '/v1/flows/tests/{id}',
      access: 'edit',
      tag,
      summary: 'Replace a flow test; omitted fields get their default, except secrets, which are kept',
      description: 'A change of the recording, start page or expectations creates a version.',
      params: ById,
      maxBodyBytes: FLOW_BODY_BYTES,
      body: FlowTestInputSchema,
      answer: FlowTestSchema,
      handle({ principal, params: { id }, body }) {
        const key = { orgId: principal.orgId, id }
        const { channels: stored } = findFlowTest(db, key)
        const settings = accept(body, principal.orgId, stored)
        return describe(parts, updateFlowTest(parts, key, settings, body.secrets), principal)
      },
    }),
    route({
      id: 'compareFlowTestSecrets',
      method: 'POST',
      path: '/v1/flows/tests/{id}/secrets/compare',
      access: 'seeTokens',
      tag,
      summary: 'Compare values with the stored secrets of a flow test, without changing or returning them',
      params: ById,
      body: SecretComparisonSchema,
      answer: ComparedSecretsSchema,
      handle: ({ principal: { orgId }, params: { id }, body }) =>
        compareSecrets(body, openSecrets(parts.box, storedFlowTest(parts.db, { orgId, id }))),
    }),
    route({
      id: 'deleteFlowTest',
      method: 'DELETE',
      path: '/v1/flows/tests/{id}',
      access: 'edit',
      tag,
      summary: 'Delete a flow test and its runs; its unresolved issues are resolved and remain readable',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId, userId }, params: { id } }) {
        deleted(findFlowTest(db, { orgId, id }), userId)
        deleteFlowTest(db, { orgId, id })
        return OK
      },
      after: ({ params: { id } }) => cancel(id),
    }),
  ]
}

function runRoute({ db, box, clock, region, fault, checkAddress, start }: FlowTestDeps): Route {
  return route({
    id: 'runFlowTest',
    method: 'POST',
    path: '/v1/flows/tests/{id}/run',
    access: 'edit',
    tag,
    summary: 'Queue a run of a flow test',
    description:
      'Returns before the run starts. 409 when the server has no Chromium, with instructions. 429 while too many runs are waiting.',
    refusals: ['conflict', 'rateLimited'],
    tool: true,
    params: ById,
    maxBodyBytes: FLOW_BODY_BYTES,
    body: RunInputSchema,
    status: 201,
    answer: RunSchema,
    handle({ principal: { orgId, via }, params: { id }, body: { startUrl = null, variables = {}, secrets = {} } }) {
      const kept = storedFlowTest(db, { orgId, id })
      const { test } = kept
      withStartUrl(test.recording, startUrl)
      checkNames(variables, 'variables')
      checkAddresses({ ...test, startUrl, variables: { ...test.variables, ...variables } }, checkAddress)
      checkNames(secrets, 'secrets')
      requireRunReach(box, kept, { startUrl, variables, secrets })
      const why = fault()
      if (why !== null) throw new AppError('conflict', why)
      const trigger = via === 'key' ? 'api' : 'manual'
      return shownRun(
        queueRun(db, clock.now(), test, { trigger, startUrl, variables, secrets: sealed(box, secrets), region }),
      )
    },
    after: start,
  })
}

function healingRoute(parts: FlowTestDeps): Route {
  const { db, clock } = parts
  return route({
    id: 'decideHealing',
    method: 'POST',
    path: '/v1/flows/tests/{id}/healing',
    access: 'edit',
    tag,
    summary: 'Approve or reject a healed step',
    description: 'An approved healing becomes the first selector of the step in a new version.',
    refusals: ['conflict'],
    tool: true,
    params: ById,
    body: HealingInputSchema,
    answer: FlowTestSchema,
    handle({ principal, params: { id }, body }) {
      const key = { orgId: principal.orgId, id }
      const elementOf = (runId: string, step: number) => factsOf(db, runId).elements[step] ?? null
      return describe(parts, decideHealing(db, key, { ...body, now: clock.now() }, elementOf), principal)
    },
  })
}
