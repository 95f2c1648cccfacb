import { once } from 'node:events';
import { connect, type PeerCertificate } from 'node:tls';

/** The certificate that the server presents for a name, trusted or not. */
export async function certificateAt(port: number, host: string): Promise<PeerCertificate> {
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}
