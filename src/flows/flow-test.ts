import { ChannelSchema } from '../alerts/alert.ts'
import {
  consentSchema,
  DeviceSchema,
  scheduleFields,
  VendorRequestsSchema,
} from '../browser/browser-settings-schema.ts'
import { SEVERITIES } from '../contract/severities.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'
import { ExpectationSchema } from './expectation.ts'
import { type Recording, RecordingSchema } from './recorder-export.ts'

/** Maximum size of a request body with a flow test, in bytes: a recording of 1 MiB and all other fields. */
export const FLOW_BODY_BYTES = 2 * 1024 * 1024

const TEST_STATUSES = ['never_run', 'passed', 'failed'] as const
export type TestStatus = (typeof TEST_STATUSES)[number]

const RECORDING = {
  title: 'Buy a shirt',
  steps: [
    { type: 'navigate', url: 'https://shop.example/' },
    { type: 'click', selectors: [['aria/Add to basket'], ['#add']], offsetX: 20, offsetY: 10 },
  ],
}
const EXPECTATION = { step: 1, vendor: 'Google Analytics 4', event: 'add_to_cart' }

/** Unversioned fields of a flow test. Stored tests contain all of them. */
const settings = {
  name: Text(1, 200, {
    description: 'Name of the test, used as the title of its notifications',
    examples: ['Buy a shirt'],
  }),
  domainId: Nullable(Type.String({ maxLength: 100, description: 'The domain under test' })),
  enabled: Type.Boolean({ default: true, description: 'False: the test runs only when started by hand' }),
  variables: Type.Record(Type.String(), Text(0, 2000), {
    description: 'Strings that replace `{{name}}` in the recording',
    examples: [{ coupon: 'SPRING' }],
  }),
  secretHosts: Type.Array(Text(1, 253), {
    maxItems: 20,
    description:
      'Hosts that may receive the secrets in addition to those of the recording and `startUrl`, such as a sign-in page to which the site redirects',
    examples: [['login.shop.example']],
  }),
  device: DeviceSchema,
  consent: consentSchema(['none', 'accept', 'deny'], {
    description: 'How to answer a consent banner before the first step',
    examples: [{ mode: 'accept' }],
  }),
  vendorRequests: VendorRequestsSchema,
  ...scheduleFields,
  runOnChange: Type.Boolean({ default: false, description: 'Also run after a change of its domain' }),
  retries: Int({
    minimum: 0,
    maximum: 2,
    default: 1,
    description: 'Number of times that a failed run is retried immediately',
  }),
  timeoutS: Int({ minimum: 10, maximum: 600, default: 120, description: 'Maximum duration of one attempt in seconds' }),
  severity: OneOf(SEVERITIES, { default: 'medium', description: 'Severity of its issues' }),
  impactValue: Nullable(Int({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Estimated cost per issue' })),
  channels: Type.Array(ChannelSchema, { maxItems: 10, description: 'Channels notified of its issues' }),
}

/** Versioned fields. A change to any of them creates a version. */
const versioned = {
  recording: Type.Unsafe<Recording>({ ...RecordingSchema, examples: [RECORDING] }),
  startUrl: Nullable(Text(1, 2000, { description: 'Replaces the first URL of the recording' })),
  expectations: Type.Array(ExpectationSchema, {
    maxItems: 100,
    description: 'Expected events',
    examples: [[EXPECTATION]],
  }),
}

export const FlowTestInputSchema = Closed(
  {
    name: settings.name,
    domainId: Type.Optional(settings.domainId),
    enabled: Type.Optional(settings.enabled),
    recording: versioned.recording,
    startUrl: Type.Optional(versioned.startUrl),
    expectations: Type.Optional(versioned.expectations),
    variables: Type.Optional(settings.variables),
    secrets: Type.Optional(
      Type.Record(Type.String(), Nullable(Text(0, 2000)), {
        description:
          'Like `variables`, but stored encrypted, returned by name only, and masked wherever a run is stored or shown. A PUT without `secrets` keeps all of them; a PUT with `secrets` keeps those whose value is null. Secrets are bound to the hosts and expressions of the test: a PUT that adds a host or an expression must contain their values again',
        examples: [{ password: 'correct horse' }],
      }),
    ),
    secretHosts: Type.Optional(settings.secretHosts),
    device: Type.Optional(settings.device),
    consent: Type.Optional(settings.consent),
    vendorRequests: Type.Optional(settings.vendorRequests),
    schedule: Type.Optional(settings.schedule),
    timezone: Type.Optional(settings.timezone),
    runOnChange: Type.Optional(settings.runOnChange),
    retries: Type.Optional(settings.retries),
    timeoutS: Type.Optional(settings.timeoutS),
    severity: Type.Optional(settings.severity),
    impactValue: Type.Optional(settings.impactValue),
    channels: Type.Optional(settings.channels),
  },
  {
    $id: 'FlowTestInput',
    examples: [{ name: 'Buy a shirt', recording: RECORDING, expectations: [EXPECTATION] }],
  },
)
export type FlowTestInput = Static<typeof FlowTestInputSchema>
/** Secrets in a request, by name. Null keeps the stored value. */
export type GivenSecrets = NonNullable<FlowTestInput['secrets']>

const HealingSchema = Closed({
  step: Int({ description: 'Index in `recording.steps`' }),
  before: Type.String({ description: 'Selector that was recorded for the step' }),
  after: Type.String({ description: 'Selector with which the step found its element' }),
  runId: Type.String(),
  at: InstantSchema,
})
/** A step that was healed in a run and awaits approval. */
export type Healing = Static<typeof HealingSchema>

const { channels, ...open } = settings

export const FlowTestSchema = Closed(
  {
    id: Type.String(),
    orgId: Type.String(),
    ...versioned,
    ...open,
    secrets: Type.Array(Type.String(), { description: 'Names of the secrets' }),
    channels: Type.Array(ChannelSchema, {
      description:
        'Targets are masked for viewers and read-only keys. A masked target in a PUT keeps the stored target',
    }),
    versionId: Type.String(),
    version: Int({
      description: 'Starts at 1; a change of the recording, start page or expectations creates a version',
    }),
    status: OneOf(TEST_STATUSES, { description: 'Status of the most recent run' }),
    healing: Type.Array(HealingSchema, { description: 'Healed steps that await approval' }),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
    managedBy: managedByField(),
  },
  {
    $id: 'FlowTest',
    examples: [
      {
        id: 'tst_01ke7jm2q0d3k8f1z6y5b7n4ta',
        orgId: 'org_01ke7jhv00p5s9c2g4w8e6m1xr',
        name: 'Buy a shirt',
        domainId: null,
        enabled: true,
        recording: RECORDING,
        startUrl: null,
        expectations: [EXPECTATION],
        variables: {},
        secrets: [],
        secretHosts: [],
        device: 'desktop',
        consent: { mode: 'none' },
        vendorRequests: 'answer',
        schedule: '0 6 * * *',
        timezone: 'Europe/Berlin',
        runOnChange: false,
        retries: 1,
        timeoutS: 120,
        severity: 'medium',
        impactValue: null,
        channels: [],
        versionId: 'ver_01ke7jm2q0d3k8f1z6y5b7n4ta',
        version: 1,
        status: 'passed',
        healing: [],
        createdAt: 1_767_614_400_000,
        updatedAt: 1_767_614_400_000,
      },
    ],
  },
)
export type FlowTest = Static<typeof FlowTestSchema>
