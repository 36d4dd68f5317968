import { expect, test } from 'bun:test'
import { operatorFetch } from './operator-fetch.ts'

const get = { method: 'GET', headers: {} }

/** A local server that records the requests it receives. */
function server(answer: (request: Request) => Response) {
  const asked: string[] = []
  const running = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      asked.push(`${request.method} ${request.url}`)
      return answer(request)
    },
  })
  return { url: `http://127.0.0.1:${running.port}`, asked, [Symbol.asyncDispose]: () => running.stop(true) }
}

test('reaches private addresses, sends a form, and returns status, headers and body', async () => {
  await using provider = server(() => new Response('{"a":1}', { status: 400, headers: { 'content-type': 'a/b' } }))
  const body = new URLSearchParams({ code: 'x y' })
  const response = await operatorFetch({ proxy: '', ca: '' })(`${provider.url}/token?q=1`, {
    ...get,
    method: 'POST',
    body,
  })
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    400,
    'a/b',
    '{"a":1}',
  ])
  expect(provider.asked).toEqual([`POST ${provider.url}/token?q=1`])
})

test('sends requests only through the proxy', async () => {
  await using provider = server(() => new Response('direct'))
  await using proxy = server(() => new Response('bad gateway', { status: 502 }))
  const response = await operatorFetch({ proxy: proxy.url, ca: '' })(`${provider.url}/keys`, get)
  expect([response.status, provider.asked, proxy.asked]).toEqual([502, [], [`GET ${provider.url}/keys`]])
})

test('does not follow redirects', async () => {
  await using provider = server(({ url }) => Response.redirect(url, 302))
  expect((await operatorFetch({ proxy: '', ca: '' })(provider.url, get)).status).toBe(302)
  expect(provider.asked).toHaveLength(1)
})

test('a response of more than a megabyte is an error', async () => {
  await using provider = server(() => new Response('x'.repeat(1024 * 1024 + 1)))
  await expect(operatorFetch({ proxy: '', ca: '' })(provider.url, get)).rejects.toThrow('is larger than')
})
