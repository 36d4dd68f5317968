import { Int, OneOf, Text, type TObject, Type } from '../core/schema.ts'

/** Maximum length of a selector, string or expression, in characters. */
const LONGEST_TEXT = 10_000
const LONGEST_URL = 4000

/** Fields that all kinds of steps have. Unknown fields are kept, because Chrome occasionally adds new ones. */
const anyStep = {
  timeout: Type.Optional(
    Int({ minimum: 1, maximum: 600_000, 'x-unit': 'ms', description: 'Timeout of the step, in milliseconds' }),
  ),
  assertedEvents: Type.Optional(
    Type.Array(
      Type.Object(
        {
          type: OneOf(['navigation']),
          url: Type.Optional(Text(0, LONGEST_URL, { title: 'URL' })),
          title: Type.Optional(Text(0, LONGEST_TEXT)),
          // A field that Tagwarden adds. Chrome's Recorder does not write it.
          status: Type.Optional(Int({ minimum: 100, maximum: 599, description: 'Expected HTTP status of the page' })),
        },
        { title: 'Navigation' },
      ),
      { title: 'Expected navigations', maxItems: 10, description: 'A navigation that the step triggers and waits for' },
    ),
  ),
  target: Type.Optional(
    Text(1, LONGEST_URL, {
      title: 'Tab or frame',
      description: '`main`, or the URL of a tab or frame',
      examples: ['main'],
    }),
  ),
}

const inFrame = {
  ...anyStep,
  frame: Type.Optional(
    Type.Array(Int({ minimum: 0, maximum: 1000 }), {
      maxItems: 20,
      description:
        'Path to the frame: index of a child frame, then of its child frame, and so on. Default: the page itself',
    }),
  ),
}

const selector = Text(1, LONGEST_TEXT)
const Selectors = Type.Array(Type.Union([selector, Type.Array(selector, { minItems: 1, maxItems: 20 })]), {
  minItems: 1,
  maxItems: 50,
  description:
    'Alternative selectors of the element: CSS, or with the prefix `aria/`, `text/`, `xpath/` or `pierce/`. An array of selectors leads through nested shadow trees',
})

const onElement = { ...inFrame, selectors: Selectors }

const press = {
  deviceType: Type.Optional(OneOf(['mouse', 'pen', 'touch'])),
  button: Type.Optional(OneOf(['primary', 'auxiliary', 'secondary', 'back', 'forward'])),
  offsetX: Type.Optional(Type.Number()),
  offsetY: Type.Optional(Type.Number()),
  duration: Type.Optional(Type.Number({ minimum: 0, maximum: 60_000 })),
}

/** A key as in `KeyboardEvent.key`: a character or a name such as `Enter`. */
const key = Text(1, 40)

const fieldsOf = {
  setViewport: {
    ...anyStep,
    width: Type.Number({ minimum: 0 }),
    height: Type.Number({ minimum: 0 }),
    deviceScaleFactor: Type.Optional(Type.Number({ minimum: 0 })),
    isMobile: Type.Optional(Type.Boolean()),
    hasTouch: Type.Optional(Type.Boolean()),
    isLandscape: Type.Optional(Type.Boolean()),
  },
  emulateNetworkConditions: {
    ...anyStep,
    download: Type.Number(),
    upload: Type.Number(),
    latency: Type.Number(),
  },
  navigate: { ...anyStep, url: Text(1, LONGEST_URL, { title: 'URL' }) },
  click: { ...onElement, ...press },
  doubleClick: { ...onElement, ...press },
  hover: onElement,
  change: { ...onElement, value: Text(0, LONGEST_TEXT) },
  keyDown: { ...anyStep, key },
  keyUp: { ...anyStep, key },
  scroll: {
    ...inFrame,
    selectors: Type.Optional(Selectors),
    x: Type.Optional(Type.Number()),
    y: Type.Optional(Type.Number()),
  },
  close: anyStep,
  waitForElement: {
    ...onElement,
    operator: Type.Optional(OneOf(['>=', '==', '<='])),
    count: Type.Optional(Int({ minimum: 0, maximum: 100_000 })),
    visible: Type.Optional(Type.Boolean()),
    attributes: Type.Optional(Type.Record(Type.String(), Type.String())),
    properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  waitForExpression: { ...inFrame, expression: Text(1, LONGEST_TEXT) },
} as const satisfies Record<string, Parameters<typeof Type.Object>[0]>

/** The kinds of steps that can be executed. */
export type StepType = keyof typeof fieldsOf
export const STEP_TYPES = Object.keys(fieldsOf) as StepType[]

export const isStepType = (type: string): type is StepType => Object.hasOwn(fieldsOf, type)

/** Titles of all kinds of steps, for forms. */
export const STEP_TITLES: Readonly<Record<StepType, string>> = {
  setViewport: 'Set window size',
  emulateNetworkConditions: 'Set network speed',
  navigate: 'Open page',
  click: 'Click',
  doubleClick: 'Double-click',
  hover: 'Point at element',
  change: 'Fill in field',
  keyDown: 'Press key',
  keyUp: 'Release key',
  scroll: 'Scroll',
  close: 'Close tab',
  waitForElement: 'Wait for element',
  waitForExpression: 'Wait for expression',
}

/** Schemas of all kinds of steps. */
export const STEP_SCHEMAS = Object.fromEntries(
  Object.entries(fieldsOf).map(([type, fields]) => [type, Type.Object(fields)]),
) as unknown as { [type in StepType]: TObject<(typeof fieldsOf)[type]> }
