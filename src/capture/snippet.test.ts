import { describe, expect, test } from 'bun:test'
import { YAML } from 'bun'
import { snippetOf } from './snippet.ts'

const SCRIPT_URL = 'https://collect.example/t/pt_1.js'
const { head, script, template, ...addresses } = snippetOf({
  token: 'pt_1',
  base: 'https://collect.example/api/v1/events',
  stub: '(()=>{load(SCRIPT_URL)})();',
})

/** The parts of the file: https://developers.google.com/tag-platform/tag-manager/templates/gallery */
const sections = Object.fromEntries(
  [...template.matchAll(/^___(\w+)___\n\n([\s\S]*?)(?=\n\n___\w+___\n|$(?![\s\S]))/gm)].map(([, name, text]) => [
    name,
    text,
  ]),
)
const code = sections.SANDBOXED_JS_FOR_WEB_TEMPLATE ?? ''
// biome-ignore lint/suspicious/noExplicitAny: the file is not typed
const permissions = new Map<string, any[]>(
  JSON.parse(sections.WEB_PERMISSIONS ?? '[]').map(
    ({ instance: { key, param } }: { instance: { key: { publicId: string }; param: [] } }) => [key.publicId, param],
  ),
)

/**
 * The permission that each function requires:
 * https://developers.google.com/tag-platform/tag-manager/templates/permissions
 */
const NEEDS: Record<string, string | null> = {
  addEventCallback: 'read_event_metadata',
  copyFromDataLayer: 'read_data_layer',
  copyFromWindow: 'access_globals',
  createArgumentsQueue: 'access_globals',
  getContainerVersion: 'read_container_data',
  getUrl: 'get_url',
  injectScript: 'inject_script',
  makeString: null,
}

type Api = (...args: never[]) => unknown

interface Page {
  host?: string
  /** A property of the window, for `copyFromWindow`. */
  isSnippet?: boolean
  version?: object
}

/** Runs the template as Google Tag Manager does, with functions that behave as documented. */
function runTemplate(
  data: Record<string, string>,
  { host = 'www.shop.example', isSnippet = false, version }: Page = {},
) {
  const commands: unknown[][] = []
  const injected: unknown[][] = []
  const ends: string[] = []
  let callback: ((containerId: string, eventData: object) => void) | null = null
  const apis: Record<string, Api> = {
    addEventCallback(given: typeof callback) {
      callback = given
    },
    copyFromDataLayer: (key: string) => (key === 'event' ? 'purchase' : undefined),
    copyFromWindow: (path: string) => (path === 'tagwardenQueue.isSnippet' && isSnippet ? true : undefined),
    createArgumentsQueue:
      (...names: string[]) =>
      (...command: unknown[]) =>
        commands.push([names.join(), ...command]),
    getContainerVersion: () => ({
      containerId: 'GTM-ABC',
      version: '12',
      debugMode: false,
      previewMode: false,
      ...version,
    }),
    getUrl: (part: string) => (part === 'host' ? host : undefined),
    injectScript: (...args: unknown[]) => void injected.push(args),
    makeString: (value: unknown) => String(value),
  }
  const end = (name: string) => () => void ends.push(name)
  new Function('require', 'data', code)(requireOf(apis), {
    ...data,
    gtmOnSuccess: end('success'),
    gtmOnFailure: end('failure'),
  })
  const tell = (containerId: string, tags: object[]) => callback?.(containerId, { tags })
  return {
    commands: () => commands.map(([, ...command]) => command),
    queues: () => commands[0]?.[0],
    injected,
    ends,
    tell,
  }
}

function requireOf(apis: Record<string, Api>) {
  return (name: string): Api => {
    const needed = NEEDS[name]
    const api = apis[name]
    if (needed === undefined || !api) throw new Error(`${name} does not exist`)
    if (needed !== null && !permissions.has(needed)) throw new Error(`${name} is not permitted`)
    return api
  }
}

test('the head snippet loads the property’s script', () => {
  expect(script).toBe(`(()=>{load("${SCRIPT_URL}")})();`)
  expect(head).toBe(`<script>${script}</script>`)
  expect(addresses).toEqual({ scriptUrl: SCRIPT_URL, configUrl: 'https://collect.example/t/pt_1.json' })
})

describe('the template file for Google Tag Manager', () => {
  test('has every section required for the import', () => {
    expect(Object.keys(sections)).toEqual([
      'INFO',
      'TEMPLATE_PARAMETERS',
      'SANDBOXED_JS_FOR_WEB_TEMPLATE',
      'WEB_PERMISSIONS',
      'TESTS',
      'NOTES',
    ])
    expect(JSON.parse(sections.INFO ?? '')).toMatchObject({
      type: 'TAG',
      id: 'cvt_temp_public_id',
      containerContexts: ['WEB'],
    })
    const parameters = JSON.parse(sections.TEMPLATE_PARAMETERS ?? '')
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
      'scriptUrl',
      'customerId',
      'sessionId',
      'allowedDomains',
      'selectedTags',
    ])
    expect(parameters[0].defaultValue).toBe(SCRIPT_URL)
    expect(template).not.toContain('SCRIPT_ORIGIN')
  })

  test('requests only the permissions that it uses', () => {
    const used = [...code.matchAll(/require\('(\w+)'\)/g)].map(([, name]) => NEEDS[name ?? ''] ?? '')
    expect([...permissions.keys()].sort()).toEqual([...new Set(used.filter(Boolean))].sort())
    expect(permissions.get('inject_script')?.[0].value.listItem).toEqual([
      { type: 1, string: 'https://collect.example/t/*' },
    ])
    const globals = permissions.get('access_globals')?.[0].value.listItem
    expect(globals.map(({ mapValue: [key] }: { mapValue: { string: string }[] }) => key?.string)).toEqual([
      'tagwarden',
      'tagwardenQueue',
      'tagwardenQueue.isSnippet',
    ])
  })

  test('uses only language features of the sandbox', () => {
    // https://developers.google.com/tag-platform/tag-manager/templates/sandboxed-javascript
    expect(code).not.toMatch(
      /`|\.\.\.|\b(?:new|this|class|async|await|try|arguments|window|document)\b|=\s*[{[].*[}\]]\s*=|\?\.|\?\?/,
    )
  })
})

describe('the template when it runs', () => {
  test('reports its container before any tag has finished, and the tags of each event', () => {
    const { commands, queues, tell, injected, ends } = runTemplate({
      scriptUrl: '',
      customerId: 'c-7',
      sessionId: 's-1',
    })
    expect(queues()).toBe('tagwarden,tagwardenQueue')
    expect(commands()).toEqual([
      ['configure', { version: '12', env: 'prod', customerId: 'c-7', sessionId: 's-1' }],
      ['container', 'GTM-ABC'],
    ])
    const tags = [
      { id: '7', status: 'success', executionTime: 3, name: 'Purchase' },
      { id: '8', status: 'timeout', executionTime: 2000 },
    ]
    tell('GTM-ABC', [...tags, { id: '9', status: 'success', exclude: 'true' }])
    expect(commands().at(-1)).toEqual(['tags', 'GTM-ABC', 'purchase', tags])
    tell('GTM-ABC', [{ id: '9', status: 'success', exclude: 'true' }])
    expect(commands()).toHaveLength(3)
    expect([injected, ends]).toEqual([[], ['success']])
  })

  test.each([{ debugMode: true }, { previewMode: true }])('marks events in debug and preview mode: %j', (version) => {
    expect(runTemplate({}, { version }).commands()[0]).toEqual(['configure', expect.objectContaining({ env: 'dev' })])
  })

  test('reports only selected tags', () => {
    const { commands, tell } = runTemplate({ selectedTags: ' 8 ,9' })
    tell('GTM-ABC', [
      { id: 8, status: 'success' },
      { id: '18', status: 'success' },
      { id: '9', status: 'failure' },
    ])
    expect(commands().at(-1)?.[3]).toEqual([
      { id: 8, status: 'success' },
      { id: '9', status: 'failure' },
    ])
  })

  test.each([
    ['www.shop.example', true],
    ['shop.example', true],
    ['other.example', true],
    ['notshop.example', false],
    ['shop.example.evil.example', false],
  ])('is active on %s: %p', (host, works) => {
    const { commands, injected, ends } = runTemplate(
      { scriptUrl: SCRIPT_URL, allowedDomains: 'shop.example, other.example' },
      { host },
    )
    expect([commands().length > 0, injected.length > 0]).toEqual([works, works])
    expect(ends).toEqual(works ? [] : ['success'])
  })

  test('loads the script unless the head snippet loads it', () => {
    const { injected } = runTemplate({ scriptUrl: SCRIPT_URL })
    expect(injected).toEqual([[SCRIPT_URL, expect.any(Function), expect.any(Function), 'tagwarden']])
    expect(runTemplate({ scriptUrl: SCRIPT_URL }, { isSnippet: true })).toMatchObject({
      injected: [],
      ends: ['success'],
    })
  })
})

describe('the tests in the template file', () => {
  const { setup, scenarios } = YAML.parse(sections.TESTS ?? '') as {
    setup: string
    scenarios: { name: string; code: string }[]
  }

  /** https://developers.google.com/tag-platform/tag-manager/templates/tests */
  function runScenario(test: string) {
    const called = new Set<string>()
    const mocks: Record<string, Api> = { makeString: String }
    const mock = (name: string, value: unknown) => {
      const api = typeof value === 'function' ? (value as Api) : () => value
      mocks[name] = (...args: never[]) => {
        called.add(name)
        return api(...args)
      }
    }
    const runCode = (data: object) => {
      const ends = {
        gtmOnSuccess: () => void called.add('gtmOnSuccess'),
        gtmOnFailure: () => void called.add('gtmOnFailure'),
      }
      new Function('require', 'data', code)(requireOf(mocks), { ...data, ...ends })
    }
    const assertThat = (value: unknown) => ({
      isEqualTo: (other: unknown) => expect(value).toEqual(other),
      hasLength: (length: number) => expect(value).toHaveLength(length),
    })
    const assertApi = (name: string) => ({
      wasCalled: () => expect(called.has(name)).toBe(true),
      wasNotCalled: () => expect(called.has(name)).toBe(false),
    })
    const names = ['mock', 'runCode', 'assertThat', 'assertApi']
    new Function(...names, `${setup}\n${test}`)(mock, runCode, assertThat, assertApi)
  }

  test.each(scenarios)('$name', ({ code }) => runScenario(code))
})
