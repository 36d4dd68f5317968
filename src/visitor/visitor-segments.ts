import type { VisitorSegments } from '../core/event.ts'
import { originOf } from '../http/client-info.ts'
import type { ClientHints } from './client-hints.ts'
import { readLanguage } from './language.ts'
import { readUserAgent } from './user-agent.ts'

/** The optional fields of a batch that describe its visitor. */
export interface DeclaredVisitor {
  userAgent?: string
  clientHints?: object
  language?: string
}

/**
 * Returns the segments of the visitor who sent a batch. The fields of the batch take precedence over the headers of the
 * request, because the sender may be a server. If the batch has a user agent or client hints, the headers of both and
 * the address of the sender are ignored.
 */
export function visitorSegments(
  batch: DeclaredVisitor,
  request: Request,
  countryOf: (address: string) => string | null = () => null,
): VisitorSegments {
  const { headers } = request
  const { userAgent, clientHints, language } = batch
  const isDeclared = userAgent !== undefined || clientHints !== undefined
  const { browser, browserVersion, os, device } = isDeclared
    ? readUserAgent(userAgent ?? null, (clientHints as ClientHints | undefined) ?? null)
    : readUserAgent(headers.get('user-agent'), hintsIn(headers))
  return {
    browser,
    browserVersion,
    os,
    device,
    language: readLanguage(language) ?? readLanguage(headers.get('accept-language')),
    country: isDeclared ? null : countryOfSender(request, countryOf),
  }
}

function countryOfSender(request: Request, countryOf: (address: string) => string | null): string | null {
  const { address } = originOf(request)
  return address === null ? null : countryOf(address)
}

/** Returns the client hints that browsers send without being asked; null if there are none. */
function hintsIn(headers: Headers): ClientHints | null {
  const brands = headers.get('sec-ch-ua')
  if (brands === null) return null
  return {
    'sec-ch-ua': brands,
    'sec-ch-ua-mobile': headers.get('sec-ch-ua-mobile'),
    'sec-ch-ua-platform': headers.get('sec-ch-ua-platform'),
  }
}
