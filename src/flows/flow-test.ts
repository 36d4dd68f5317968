import { ChannelSchema, SEVERITIES } from '../alerts/alert.ts'
import { consentSchema, DeviceSchema, scheduleFields, VendorRequestsSchema } from '../browser/input.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { ExpectationSchema } from './expectation.ts'
import { type Recording, RecordingSchema } from './recording.ts'

/** The largest body of a request with a flow test: a recording of 1 MiB, and everything else. */
export const FLOW_BODY_BYTES = 2 * 1024 * 1024

export const TEST_STATUSES = ['never_run', 'passed', 'failed'] as const
export type TestStatus = (typeof TEST_STATUSES)[number]

const RECORDING = {
  title: 'Buy a shirt',
  steps: [
    { type: 'navigate', url: 'https://shop.example/' },
    { type: 'click', selectors: [['aria/Add to basket'], ['#add']], offsetX: 20, offsetY: 10 },
  ],
}
const EXPECTATION = { step: 1, vendor: 'Google Analytics 4', event: 'add_to_cart' }

/** What a flow test has beside its version; of a stored one every field is there. */
const settings = {
  name: Text(1, 200, { description: 'Heads every message about it', examples: ['Buy a shirt'] }),
  domainId: Nullable(Type.String({ maxLength: 100, description: 'The property that it walks' })),
  enabled: Type.Boolean({ default: true, description: 'False: it runs by hand only' }),
  variables: Type.Record(Type.String(), Text(0, 2000), {
    description: 'Texts that stand in the recording as `{{name}}`',
    examples: [{ coupon: 'SPRING' }],
  }),
  secretHosts: Type.Array(Text(1, 253), {
    maxItems: 20,
    description:
      'Hosts that may get the secrets besides those of the recording and `startUrl`, such as a sign-in page to which the site redirects',
    examples: [['login.shop.example']],
  }),
  device: DeviceSchema,
  consent: consentSchema(['none', 'accept', 'deny'], {
    description: 'How a consent banner is answered, where there is one, before anything else is done',
    examples: [{ mode: 'accept' }],
  }),
  vendorRequests: VendorRequestsSchema,
  ...scheduleFields,
  runOnChange: Type.Boolean({ default: false, description: 'It also runs after a change of its domain' }),
  retries: Int({ minimum: 0, maximum: 2, default: 1, description: 'How often a run that failed is repeated at once' }),
  timeoutS: Int({ minimum: 10, maximum: 600, default: 120, description: 'Seconds that one walk may take' }),
  severity: OneOf(SEVERITIES, { default: 'medium', description: 'How grave its issues are' }),
  impactValue: Nullable(
    Int({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'What an issue of it may cost' }),
  ),
  channels: Type.Array(ChannelSchema, { maxItems: 10, description: 'Who is told of its issues' }),
}

/** What is walked, and what has to be seen: a change of it makes a version. */
const versioned = {
  recording: Type.Unsafe<Recording>({ ...RecordingSchema, examples: [RECORDING] }),
  startUrl: Nullable(Text(1, 2000, { description: 'In place of the address that the recording first goes to' })),
  expectations: Type.Array(ExpectationSchema, {
    maxItems: 100,
    description: 'Which tags must fire, and how',
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
          'As `variables`, but sealed, answered by name only, and masked wherever a run is kept or shown. A PUT without them keeps them all, one with them those whose value is null. They are bound to the hosts and expressions of the test: a PUT that adds one of these must contain their values again',
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
/** Secrets as they are given, by name; null: the one that is kept. */
export type GivenSecrets = NonNullable<FlowTestInput['secrets']>

export const HealingSchema = Closed({
  step: Int({ description: 'Index in `recording.steps`' }),
  before: Type.String({ description: 'How the step was to find its element' }),
  after: Type.String({ description: 'How it found it' }),
  runId: Type.String(),
  at: InstantSchema,
})
/** A step that was healed in a run, which waits for a person. */
export type Healing = Static<typeof HealingSchema>

const { channels, ...open } = settings

export const FlowTestSchema = Closed(
  {
    id: Type.String(),
    orgId: Type.String(),
    ...versioned,
    ...open,
    secrets: Type.Array(Type.String(), { description: 'Their names' }),
    channels: Type.Array(ChannelSchema, {
      description: 'For viewers and read-only keys with masked targets. A masked target in a PUT keeps the stored one',
    }),
    versionId: Type.String(),
    version: Int({ description: 'From 1; a change of recording, start page or expectations makes another' }),
    status: OneOf(TEST_STATUSES, { description: 'Of the last run' }),
    healing: Type.Array(HealingSchema, { description: 'Healed steps that wait for approval' }),
    createdAt: InstantSchema,
    updatedAt: InstantSchema,
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

/** Identifies a flow test within one organization: another organization's is not found. */
export interface FlowTestKey {
  orgId: string
  id: string
}
