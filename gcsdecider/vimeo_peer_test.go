package gcsdecider

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// peerEntry is an entry as vimeo/leaderelection has it.
type peerEntry struct {
	number uint64
	leader string
	hosts  []string
	expiry time.Time
	params []byte
}

// peerForm reads and writes that library's message with protobuf's own code, not
// with ours: it is the message that its file storagepb/entry.proto describes.
type peerForm struct {
	message protoreflect.MessageDescriptor
}

func newPeerForm(t testing.TB) peerForm {
	t.Helper()
	one, many := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label, of *string) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label, TypeName: of}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("entry.proto"), Package: proto.String("peer"), Syntax: proto.String("proto3"),
		Dependency: []string{"google/protobuf/timestamp.proto"},
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("RaceEntry"), Field: []*descriptorpb.FieldDescriptorProto{
			field("election_number", 1, descriptorpb.FieldDescriptorProto_TYPE_UINT64, one, nil),
			field("leader_id", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING, one, nil),
			field("host_port", 3, descriptorpb.FieldDescriptorProto_TYPE_STRING, many, nil),
			field("term_expiry", 4, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, one, proto.String(".google.protobuf.Timestamp")),
			field("connection_parameters", 5, descriptorpb.FieldDescriptorProto_TYPE_BYTES, one, nil),
		}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return peerForm{file.Messages().Get(0)}
}

// write is what that library stores.
func (p peerForm) write(e peerEntry) ([]byte, error) {
	m := dynamicpb.NewMessage(p.message)
	fields := p.message.Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfUint64(e.number))
	m.Set(fields.ByNumber(2), protoreflect.ValueOfString(e.leader))
	hosts := m.Mutable(fields.ByNumber(3)).List()
	for _, h := range e.hosts {
		hosts.Append(protoreflect.ValueOfString(h))
	}
	m.Set(fields.ByNumber(4), protoreflect.ValueOfMessage(timestamppb.New(e.expiry).ProtoReflect()))
	m.Set(fields.ByNumber(5), protoreflect.ValueOfBytes(e.params))
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// read is what that library makes of what is stored: an error where it is no
// message of this kind, or has no valid term_expiry.
func (p peerForm) read(body []byte) (peerEntry, error) {
	m := dynamicpb.NewMessage(p.message)
	if err := proto.Unmarshal(body, m); err != nil {
		return peerEntry{}, err
	}
	fields := p.message.Fields()
	e := peerEntry{
		number: m.Get(fields.ByNumber(1)).Uint(), leader: m.Get(fields.ByNumber(2)).String(),
		params: m.Get(fields.ByNumber(5)).Bytes(),
	}
	hosts := m.Get(fields.ByNumber(3)).List()
	for i := range hosts.Len() {
		e.hosts = append(e.hosts, hosts.Get(i).String())
	}
	if !m.Has(fields.ByNumber(4)) {
		return e, errors.New("no term_expiry")
	}
	stamp := m.Get(fields.ByNumber(4)).Message()
	parts := stamp.Descriptor().Fields()
	ts := &timestamppb.Timestamp{Seconds: stamp.Get(parts.ByNumber(1)).Int(), Nanos: int32(stamp.Get(parts.ByNumber(2)).Int())}
	if err := ts.CheckValid(); err != nil {
		return e, err
	}
	e.expiry = ts.AsTime()
	return e, nil
}
