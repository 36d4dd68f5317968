import { SECOND_MS } from '../core/clock.ts'
import { API_HEADERS } from './headers.ts'

/** A cookie that binds the way back from somebody else's sign-in to the browser that began it. */
export interface WayBackCookie {
  /** The header `set-cookie`. `value`: letters, digits, `-` and `_`; an age of 0 removes the cookie. */
  set(publicUrl: string, value: string, ageMs: number): string
  /** Returns the cookie of the request; null without one. */
  read(request: Request): string | null
}

/** @param path below that of `publicUrl`, which may lead through a proxy that puts a path before ours */
export function wayBackCookie(name: string, path: string): WayBackCookie {
  const sent = new RegExp(`(?:^|; *)${name}=([\\w-]+)`)
  return {
    set(publicUrl, value, ageMs) {
      const { protocol, pathname } = new URL(publicUrl)
      const whole = `${pathname.replace(/\/+$/, '')}${path}`
      const secure = protocol === 'https:' ? '; Secure' : ''
      return `${name}=${value}; Path=${whole}; Max-Age=${ageMs / SECOND_MS}; HttpOnly; SameSite=Lax${secure}`
    },
    read: (request) => request.headers.get('cookie')?.match(sent)?.[1] ?? null,
  }
}

/** A redirect that is not cached, and sends no referrer, because the address that it leads from may have a code in it. */
export function redirect(status: 302 | 303, location: string, cookie: string): Response {
  const headers = { ...API_HEADERS, 'referrer-policy': 'no-referrer', location, 'set-cookie': cookie }
  return new Response(null, { status, headers })
}
