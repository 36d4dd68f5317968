import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets at rest with AES-256-GCM. The box of a data folder can decrypt only data that it has encrypted
 * itself.
 */
export interface SecretBox {
  /** Returns the nonce, tag and ciphertext in one buffer. */
  seal(text: string): Buffer
  /**
   * Like `seal`, but deterministic: equal strings produce equal bytes, so sealed strings can be compared and grouped.
   */
  sealEqually(text: string): Buffer
  /** Throws if the bytes were modified, or encrypted with another key. */
  open(sealed: Uint8Array): string
}

export function secretBox(key: Uint8Array): SecretBox {
  const sealWith = (nonce: Buffer, text: string) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body])
  }
  const nonceKey = createHmac('sha256', key).update('nonces of equal texts').digest()
  return {
    seal: (text) => sealWith(randomBytes(NONCE_BYTES), text),
    // The nonce is a MAC of the string, so two different strings never have the same nonce.
    sealEqually: (text) =>
      sealWith(createHmac('sha256', nonceKey).update(text).digest().subarray(0, NONCE_BYTES), text),
    open(sealed) {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

/** Returns the SHA-256 that is stored instead of a bearer secret. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
