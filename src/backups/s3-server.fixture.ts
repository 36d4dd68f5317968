import { createHash, createHmac } from 'node:crypto'

/** Credentials that the server accepts. */
export const S3_KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }

/** Maximum number of keys in a listing, so that a test with a few objects needs several pages. */
const MAX_KEYS = 3

interface Stored {
  bytes: Uint8Array
  at: Date
}

/**
 * An S3-compatible server for one bucket, with the operations that backups use. It verifies the signature of every
 * request (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Stops when
 * disposed.
 */
export function s3Server(bucket = 'bucket') {
  const objects = new Map<string, Stored>()
  const uploads = new Map<string, Map<number, Uint8Array>>()
  const requests: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 ** 30,
    async fetch(request) {
      const url = new URL(request.url)
      const body = await request.bytes()
      const key = decodeURIComponent(url.pathname.slice(bucket.length + 2))
      const { method } = request
      const query = url.searchParams
      requests.push(`${method} ${key}${[...query.keys()].map((name) => ` ${name}`).join('')}`)
      if (!isSigned(request, url, body)) return failed(403, 'SignatureDoesNotMatch')
      if (!url.pathname.startsWith(`/${bucket}`)) return failed(404, 'NoSuchBucket')
      const upload = uploads.get(query.get('uploadId') ?? '')
      if (method === 'GET' && key === '') return new Response(listing(objects, query))
      if (method === 'GET') {
        const found = objects.get(key)
        return found ? new Response(found.bytes as Uint8Array<ArrayBuffer>) : failed(404, 'NoSuchKey')
      }
      if (method === 'POST' && query.has('uploads')) {
        const id = `upload-${uploads.size + 1}`
        uploads.set(id, new Map())
        return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
      }
      if (method === 'PUT' && upload) {
        upload.set(Number(query.get('partNumber')), body)
        return new Response(null, { headers: { etag: etagOf(body) } })
      }
      if (method === 'POST' && upload) {
        const parts = [...upload].sort(([a], [b]) => a - b).map(([, bytes]) => bytes)
        objects.set(key, { bytes: Buffer.concat(parts), at: new Date() })
        return xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>')
      }
      if (method === 'PUT') {
        objects.set(key, { bytes: body, at: new Date() })
        return new Response(null, { headers: { etag: etagOf(body) } })
      }
      if (method === 'DELETE') {
        if (upload) uploads.delete(query.get('uploadId') ?? '')
        else objects.delete(key)
        return new Response(null, { status: 204 })
      }
      return failed(405, 'MethodNotAllowed')
    },
  })
  return {
    objects,
    requests,
    /** The variables that select this server. */
    env: {
      AWS_ACCESS_KEY_ID: S3_KEY.id,
      AWS_SECRET_ACCESS_KEY: S3_KEY.secret,
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${server.port}`,
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const etagOf = (bytes: Uint8Array) => `"${createHash('md5').update(bytes).digest('hex')}"`
const xml = (text: string) => new Response(text, { headers: { 'content-type': 'application/xml' } })
const failed = (status: number, code: string) =>
  new Response(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, { status })

function listing(objects: ReadonlyMap<string, Stored>, query: URLSearchParams): string {
  const after = query.get('continuation-token') ?? ''
  const prefix = query.get('prefix') ?? ''
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = keys.slice(0, MAX_KEYS)
  const contents = page.map((key) => {
    const { bytes, at } = objects.get(key) as Stored
    return `<Contents><Key>${key}</Key><LastModified>${at.toISOString()}</LastModified><ETag>${etagOf(bytes)}</ETag><Size>${bytes.length}</Size></Contents>`
  })
  const next =
    keys.length > MAX_KEYS
      ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1)}</NextContinuationToken>`
      : '<IsTruncated>false</IsTruncated>'
  return `<ListBucketResult><Name>bucket</Name><KeyCount>${page.length}</KeyCount>${next}${contents.join('')}</ListBucketResult>`
}

function isSigned(request: Request, url: URL, body: Uint8Array): boolean {
  const given = request.headers.get('authorization') ?? ''
  const [, id, day, region, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      given,
    ) ?? []
  const content = request.headers.get('x-amz-content-sha256') ?? ''
  if (id !== S3_KEY.id || (content !== 'UNSIGNED-PAYLOAD' && content !== sha256(body))) return false
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)?.trim()}\n`)
  const query = [...url.search.slice(1).split('&')]
    .filter(Boolean)
    .map((part) => (part.includes('=') ? part : `${part}=`))
  const canonical = [request.method, url.pathname, query.sort().join('&'), headers.join(''), names, content].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date'), scope, sha256(canonical)].join('\n')
  const key = [day ?? '', region ?? '', 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${S3_KEY.secret}`)
  return hmac(key as Buffer, text).toString('hex') === signature
}
