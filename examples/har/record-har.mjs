/**
 * Records the requests of a Chromium browser as a HAR, over the DevTools protocol. Works with every tool that can name
 * the WebSocket URL of its browser. Requires Node 22 or Bun, which have a global `WebSocket`.
 *
 * Each page, frame and worker is paused until its requests are recorded, so that the first ones are not missed. Bodies of
 * responses are left out.
 */

/** Returns the WebSocket URL of a browser that listens on a debugging port. */
export async function webSocketUrlOf(port) {
  const response = await fetch(`http://127.0.0.1:${port}/json/version`)
  return (await response.json()).webSocketDebuggerUrl
}

/**
 * Starts to record.
 * @param {string} webSocketUrl URL of the browser's DevTools
 * @returns {Promise<{stop(): Promise<object>}>} `stop` ends the recording and returns the HAR
 */
export async function recordHar(webSocketUrl) {
  const socket = new WebSocket(webSocketUrl)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`the browser can't be reached at ${webSocketUrl}`))
  })
  const pages = new Map()
  /** Entries by session and id of the request; a redirect replaces the entry of its request. */
  const open = new Map()
  const entries = []
  const answers = new Map()
  let number = 0

  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve) => {
      const id = ++number
      answers.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params, sessionId }))
    })

  /** Targets that are created later are attached in the same way. */
  const watch = async (sessionId) => {
    await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, sessionId)
    if (sessionId === undefined) return
    await send('Network.enable', { maxPostDataSize: 1024 * 1024 }, sessionId)
    await send('Runtime.runIfWaitingForDebugger', {}, sessionId)
  }

  const listeners = {
    'Target.attachedToTarget': ({ sessionId }) => void watch(sessionId),
    'Network.requestWillBeSent'(event, sessionId) {
      const key = `${sessionId} ${event.requestId}`
      if (event.redirectResponse) answered(open.get(key), event.redirectResponse)
      const entry = entryOf(event, pageOf(event.documentURL, event.wallTime))
      entries.push(entry)
      open.set(key, entry)
      // Bodies that are too large for the event, or that consist of a Blob, are asked for.
      if (entry.request.bodySize !== 0 && entry.request.postData === undefined) {
        void send('Network.getRequestPostData', { requestId: event.requestId }, sessionId).then(({ postData }) => {
          if (postData !== undefined) entry.request.postData = { mimeType: mimeTypeOf(event.request), text: postData }
        })
      }
    },
    'Network.requestWillBeSentExtraInfo'({ requestId, headers }, sessionId) {
      // Contains headers that the browser adds later, such as `Referer`. Cookies are left out of the recording.
      const entry = open.get(`${sessionId} ${requestId}`)
      if (entry) entry.request.headers = headersOf(headers)
    },
    'Network.responseReceived'({ requestId, response }, sessionId) {
      answered(open.get(`${sessionId} ${requestId}`), response)
    },
    'Network.loadingFinished'({ requestId, timestamp }, sessionId) {
      finished(open.get(`${sessionId} ${requestId}`), timestamp)
    },
    'Network.loadingFailed'({ requestId, timestamp }, sessionId) {
      finished(open.get(`${sessionId} ${requestId}`), timestamp)
    },
  }

  const pageOf = (url, wallTime) => {
    if (!pages.has(url)) {
      const startedDateTime = new Date(wallTime * 1000).toISOString()
      pages.set(url, { id: `page_${pages.size + 1}`, title: url, startedDateTime, pageTimings: {} })
    }
    return pages.get(url).id
  }

  socket.onmessage = ({ data }) => {
    const { id, method, params, result, sessionId } = JSON.parse(data)
    if (id === undefined) listeners[method]?.(params, sessionId)
    else {
      answers.get(id)?.(result ?? {})
      answers.delete(id)
    }
  }
  await watch()
  return {
    async stop() {
      // The answer to a last command follows all events so far.
      await send('Browser.getVersion')
      socket.close()
      const shown = entries.map(({ _startedAt, ...entry }) => entry)
      return {
        log: {
          version: '1.2',
          creator: { name: 'record-har', version: '1' },
          pages: [...pages.values()],
          entries: shown,
        },
      }
    },
  }
}

function entryOf({ request, wallTime, timestamp, type, initiator }, pageref) {
  const { url, method, headers, postData, postDataEntries = [] } = request
  // A beacon without data has one empty part.
  const bytes = postDataEntries.flatMap((one) => one.bytes || [])
  const isEmpty = !request.hasPostData || (postDataEntries.length > 0 && bytes.length === 0)
  const isBinary = bytes.length === 1 && postData !== Buffer.from(bytes[0] ?? '', 'base64').toString()
  const body = isBinary ? { text: bytes[0], encoding: 'base64' } : { text: postData || undefined }
  return {
    _startedAt: timestamp,
    _resourceType: type?.toLowerCase(),
    _initiator: initiator && { type: initiator.type, url: initiator.url },
    pageref,
    startedDateTime: new Date(wallTime * 1000).toISOString(),
    time: 0,
    request: {
      method,
      url,
      httpVersion: '',
      headers: headersOf(headers),
      cookies: [],
      queryString: [],
      headersSize: -1,
      bodySize: isEmpty ? 0 : -1,
      ...(body.text === undefined ? {} : { postData: { mimeType: mimeTypeOf(request), ...body } }),
    },
    response: {
      status: 0,
      statusText: '',
      httpVersion: '',
      headers: [],
      cookies: [],
      content: { size: 0, mimeType: '' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: 0, receive: 0 },
  }
}

const headersOf = (headers) =>
  Object.entries(headers)
    .filter(([name]) => !/^(?::|cookie$|authorization$)/i.test(name))
    .map(([name, value]) => ({ name, value }))

const mimeTypeOf = ({ headers }) =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'text/plain'

function answered(entry, { status, statusText, mimeType, headers }) {
  if (!entry) return
  const location = Object.entries(headers).find(([name]) => name.toLowerCase() === 'location')?.[1] ?? ''
  Object.assign(entry.response, { status, statusText, redirectURL: location, content: { size: 0, mimeType } })
}

function finished(entry, timestamp) {
  if (entry) entry.time = Math.max(0, Math.round((timestamp - entry._startedAt) * 1000))
}
