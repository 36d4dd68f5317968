import swiftExample from './ExampleApp.swift' with { type: 'text' }
import kotlinExample from './ExampleApplication.kt' with { type: 'text' }
import kotlin from './Tagwarden.kt' with { type: 'text' }
import swift from './Tagwarden.swift' with { type: 'text' }
import node from './tagwarden.mjs' with { type: 'text' }
import python from './tagwarden.py' with { type: 'text' }
import shell from './tagwarden.sh' with { type: 'text' }

/** The values inserted into a client's source code. */
export interface ClientValues {
  /** URL of the route that receives batches. */
  eventsUrl: string
  /** The property token. */
  token: string
  /** The share of devices that send events, 0 to 1. Used by app clients. */
  sampleRate: { prod: number; dev: number }
}

interface Client {
  /** File name. */
  name: string
  label: string
  language: string
  source: string
  /** Returns the string as a literal in the client's language. */
  quote(text: string): string
}

const quoteShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
/** JSON strings are also valid literals in JavaScript and Python. */
const quoteJson = (text: string) => JSON.stringify(text)
const hex = (code: number) => code.toString(16).padStart(4, '0')
/** Escapes every character that could be special in Kotlin, including `$`, which starts string interpolation. */
const quoteKotlin = (text: string) => `"${text.replace(/[^ !#%-[\]-~]/g, (unit) => `\\u${hex(unit.charCodeAt(0))}`)}"`
const quoteSwift = (text: string) =>
  `"${text.replace(/[^ !#-[\]-~]/gu, (char) => `\\u{${hex(char.codePointAt(0) ?? 0)}}`)}"`

export const CLIENTS = {
  node: { name: 'tagwarden.mjs', label: 'Node.js', language: 'javascript', source: node, quote: quoteJson },
  python: { name: 'tagwarden.py', label: 'Python', language: 'python', source: python, quote: quoteJson },
  shell: { name: 'tagwarden.sh', label: 'curl', language: 'shell', source: shell, quote: quoteShell },
  kotlin: { name: 'Tagwarden.kt', label: 'Kotlin', language: 'kotlin', source: kotlin, quote: quoteKotlin },
  kotlinExample: {
    name: 'ExampleApplication.kt',
    label: 'Example',
    language: 'kotlin',
    source: kotlinExample,
    quote: quoteKotlin,
  },
  swift: { name: 'Tagwarden.swift', label: 'Swift', language: 'swift', source: swift, quote: quoteSwift },
  swiftExample: {
    name: 'ExampleApp.swift',
    label: 'Example',
    language: 'swift',
    source: swiftExample,
    quote: quoteSwift,
  },
} satisfies Record<string, Client>

export type ClientName = keyof typeof CLIENTS

/** Returns the source code of a client. The domain's values are inserted as literals of the client's language. */
export function clientFile(client: ClientName, { eventsUrl, token, sampleRate }: ClientValues) {
  const { source, quote, ...file } = CLIENTS[client]
  const literals: Record<string, string> = {
    EVENTS_URL: quote(eventsUrl),
    TOKEN: quote(token),
    PROD_RATE: decimal(sampleRate.prod),
    DEV_RATE: decimal(sampleRate.dev),
  }
  return { ...file, code: source.replace(PLACEHOLDER, (_, __, name: string) => literals[name] ?? '') }
}

/** Placeholders are quoted so that a template is valid code. */
const PLACEHOLDER = /(['"])\{\{(\w+)\}\}\1/g

/** `1` → `1.0`, a floating-point literal in every language. */
const decimal = (value: number) => (Number.isInteger(value) ? `${value}.0` : String(value))
